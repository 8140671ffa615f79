package server

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/carillon-io/carillon/datadir"
)

// testDirectoriesMovedByHand: two directories of shards that were exchanged are refused by name, with the file SHARD and, of an
// earlier release, without it; the node starts when they are back, and has kept its data. A directory that was copied to the place of a shard which
// other nodes hold is put aside.
func testDirectoriesMovedByHand(t *testing.T) {
	p := newTroupe(t)
	dir := t.TempDir()
	a, b, c := p.placed("a", t.TempDir(), nil), p.placed("b", t.TempDir(), nil), p.placed("c", dir, nil)
	for i := range 40 {
		p.put(fmt.Sprint("job-", i))
	}
	settled(t, a, b, c)
	held, before := c.held(), p.identities()
	must(t, c.Close(t.Context()))

	one, two, spare := datadir.ShardDir(dir, held[0]), datadir.ShardDir(dir, held[1]), filepath.Join(dir, "spare")
	exchange := func() {
		must(t, os.Rename(one, spare))
		must(t, os.Rename(two, one))
		must(t, os.Rename(spare, two))
	}
	o := p.options("c", dir)
	o.Shards = placeShards
	exchange()
	p.startFails(o, nil, "back to their places", datadir.NumberName) // of either: they are opened at the same time
	for _, path := range []string{one, two} {
		must(t, os.Remove(filepath.Join(path, datadir.NumberName)))
	}
	p.startFails(o, nil, "back to their places", "has jobs of shard ", "at the place of shard ")
	exchange()

	other := uint32(1)
	for slices.Contains(held, other) {
		other++
	}
	must(t, os.CopyFS(datadir.ShardDir(dir, other), os.DirFS(one)))
	c = p.placed("c", dir, nil)
	settled(t, a, b, c)
	for path, want := range map[string]int{datadir.ShardDir(dir, other) + ".replaced-*/wal": 1, filepath.Join(dir, datadir.ShardsName, "*", "*.replaced-*"): 0} {
		if found, err := filepath.Glob(path); err != nil || len(found) != want {
			t.Errorf("%s: %v, %v; want %d", path, found, err, want)
		}
	}
	for _, n := range held {
		if text, err := os.ReadFile(filepath.Join(datadir.ShardDir(dir, n), datadir.NumberName)); slices.Contains(c.held(), n) && (err != nil || string(text) != fmt.Sprintf("carillon shard %d\n", n)) {
			t.Errorf("shard %d: %q, %v", n, text, err)
		}
	}
	if after := p.identities(); fmt.Sprint(after) != fmt.Sprint(before) {
		t.Errorf("the jobs were %v, and are %v", before, after)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
