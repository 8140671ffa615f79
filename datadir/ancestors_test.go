package datadir

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/carillon-io/carillon/job"
)

// TestAncestorsOfAReceivedStore: a log that begins with a received store knows the commits before it, after a restart too, and tells
// the next node of them. It forgets them when the data is replaced again.
func TestAncestorsOfAReceivedStore(t *testing.T) {
	t.Parallel()
	dir, at := receive(t, 3, 80)
	leader := openTestData(t, filepath.Join(filepath.Dir(dir), "leader"))
	before := leader.Lineage().Before(at.LSN, 50)
	if len(before) != 50 || before[49].LSN != at.LSN-1 || before[0].LSN != at.LSN-50 {
		t.Fatalf("the leader has %d before %v, from %v", len(before), at, before)
	}
	mustClose(t, leader)
	d := openTestData(t, dir)
	if err := d.Adopt(at, before, Removed); err != nil {
		t.Fatal(err)
	}
	mustClose(t, d)
	d = openTestData(t, dir)
	commit(t, d, 2000, 2010)
	for _, want := range append(slices.Clone(before), at) {
		if got, ok := d.Find(want.LSN); !ok || got != want {
			t.Errorf("of commit %d it knows %v, %t", want.LSN, got, ok)
		}
	}
	if at, ok := d.Find(before[0].LSN - 1); ok {
		t.Errorf("it knows %v, of which nobody has told it", at)
	}
	end := d.log.Last()
	whole := d.Lineage().Before(end.LSN, 1000)
	if len(whole) != 50+1+9 || whole[0] != before[0] || whole[50] != at {
		t.Errorf("before %v it knows %d: %v", end, len(whole), whole)
	}
	if list := d.Lineage().Before(at.LSN, 7); !slices.Equal(list, before[43:]) {
		t.Errorf("before %v it knows %v", at, list)
	}
	mustClose(t, d)
	if a := readAncestors(inShard(dir), end, discard); len(a.list) != 0 {
		t.Error("the ancestors of one log are those of another")
	}
	if err := (&ancestors{base: end}).write(inShard(dir)); err != nil || exists(filepath.Join(inShard(dir), AncestorsName)) {
		t.Errorf("those of a log of which nothing is known are still there: %v", err)
	}
}

// TestNobodyHasAncestors: a log from its first commit on has none, and a file that is damaged is none.
func TestNobodyHasAncestors(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	d := openTestData(t, dir)
	if list := d.Lineage().Before(0, 10); len(list) != 0 {
		t.Errorf("before no commit there are %v", list)
	}
	commit(t, d, 1, 4)
	if list := d.Lineage().Before(2, 10); len(list) != 1 || list[0].LSN != 1 {
		t.Errorf("before commit 2 there are %v", list)
	}
	mustClose(t, d)
	if err := os.WriteFile(filepath.Join(inShard(dir), AncestorsName), []byte("CANC"), 0o600); err != nil {
		t.Fatal(err)
	}
	d = openTestData(t, dir)
	if _, ok := d.Find(3); !ok {
		t.Error("it does not find its own last commit")
	}
	mustClose(t, d)
}

// TestAncestorsFormat pins the bytes of the file, and that no damage of one passes.
func TestAncestorsFormat(t *testing.T) {
	a := ancestors{
		base: job.Position{LSN: 0x0102030405060708, Epoch: 9, Hash: [16]byte{0xa0, 15: 0xaf}},
		list: []job.Position{{LSN: 0x0102030405060707, Epoch: 8, Hash: [16]byte{0xb0, 15: 0xbf}}},
	}
	b := a.encode()
	const want = "43414e43" + "01000000" + "0807060504030201" + "0900000000000000" + "a00000000000000000000000000000af" +
		"0800000000000000" + "b00000000000000000000000000000bf" + "ce0a262f"
	if got := fmt.Sprintf("%x", b); got != want {
		t.Errorf("encoded as %s, want %s", got, want)
	}
	if got, err := decodeAncestors(b); err != nil || got.base != a.base || !slices.Equal(got.list, a.list) {
		t.Errorf("decoded as %v, %v", got, err)
	}
	for i := range b {
		b[i] ^= 1
		if _, err := decodeAncestors(b); err == nil {
			t.Errorf("byte %d flipped, and it was read", i)
		}
		b[i] ^= 1
		if _, err := decodeAncestors(b[:i]); err == nil {
			t.Errorf("cut to %d bytes, and it was read", i)
		}
	}
}

func FuzzDecodeAncestors(f *testing.F) {
	a := ancestors{base: job.Position{LSN: 7}, list: []job.Position{{LSN: 5}, {LSN: 6}}}
	f.Add(a.encode())
	f.Fuzz(func(t *testing.T, b []byte) {
		if a, err := decodeAncestors(b); err == nil && !slices.Equal(a.encode(), b) {
			t.Errorf("%x is decoded as %v", b, a)
		}
	})
}
