package wal

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
)

// goldenBase begins the log of the golden file.
var goldenBase = base{
	logID:  0x1122334455667788,
	before: Position{LSN: 41, Epoch: 7, Hash: Hash{0: 0xaa, 15: 0xbb}},
}

// goldenSegment builds the two commits of the golden file as a segment holds them.
func goldenSegment() []byte {
	c := newChain(goldenBase)
	var out []byte
	for i, payload := range []string{"a carillon plays", ""} {
		frame, pos := c.extend(nil, uint64(7+i), []byte(payload))
		out = append(append(out, byte(len(frame))), frame...)
		c.last = pos
	}
	return out
}

// goldenList is the list of the log of the golden files.
func goldenList() *segmentList {
	last := Next(Next(goldenBase.before, 7, []byte("a carillon plays")), 8, nil)
	return &segmentList{logID: goldenBase.logID, watermark: last, first: 42, firsts: []LSN{42}}
}

// The golden files pin the versions of the formats: logs that were written must stay readable for
// ever. A change here needs a new version, not a new file.
func TestGoldenVersions(t *testing.T) {
	listed := goldenBase
	listed.listed = true
	files := map[string][]byte{
		"v1.segment":  goldenSegment(),
		"v1.base":     goldenBase.encode(),
		"v2.base":     listed.encode(),
		"v1.segments": goldenList().encode(),
	}
	for name, got := range files {
		want, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s: encoded as\n%x, want\n%x", name, got, want)
		}
	}
}

// A log made of nothing but the golden files of the first release opens, reads and goes on; and it has a
// list from then on.
func TestGoldenOpens(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "wal")
	if err := os.Mkdir(dir, dirMode); err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(dir, baseName), goldenBase.encode())
	writeFile(t, filepath.Join(dir, segmentName(42)), goldenSegment())
	l := mustOpen(t, testOptions(dir))
	want := Next(Next(goldenBase.before, 7, []byte("a carillon plays")), 8, nil)
	if l.Last() != want {
		t.Fatalf("last is %v, want %v", l.Last(), want)
	}
	files, listed := contents(t, dir), goldenBase
	listed.listed = true
	if files[baseName] != string(listed.encode()) || files[listName] != string(goldenList().encode()) {
		t.Fatalf("BASE is %x, SEGMENTS is %x", files[baseName], files[listName])
	}
	if _, err := l.Append(8, nil); err != nil {
		t.Fatal(err)
	}
}

// goldenFrame returns the first golden frame.
func goldenFrame() []byte { return goldenSegment()[1 : 1+headerBytes+len("a carillon plays")] }

// Every bit of a frame is covered: by the checksum, or by what the checksum is compared with.
func TestEveryFlippedBitIsRefused(t *testing.T) {
	frame := goldenFrame()
	for i := range len(frame) * 8 {
		bad := bytes.Clone(frame)
		bad[i/8] ^= 1 << (i % 8)
		var f *flaw
		if _, err := decode(bad); !errors.As(err, &f) || f.whole {
			t.Fatalf("bit %d of byte %d flipped: got %v, want a torn frame", i%8, i/8, err)
		}
	}
}

// With a checksum that holds, each field is still judged by itself.
func TestEachFieldIsJudged(t *testing.T) {
	payload := []byte("a carillon plays")
	good, _ := parseHeader(goldenFrame())
	cases := []struct {
		name    string
		change  func(*header)
		version bool
		flawed  bool
	}{
		{name: "unchanged", change: func(*header) {}},
		{name: "version 0", change: func(h *header) { h.version = 0 }, version: true},
		{name: "version 2", change: func(h *header) { h.version = 2 }, version: true},
		{name: "type 0", change: func(h *header) { h.kind = 0 }, flawed: true},
		{name: "type 2", change: func(h *header) { h.kind = 2 }, flawed: true},
		{name: "flags", change: func(h *header) { h.flags = 1 }, flawed: true},
		{name: "lower LSN", change: func(h *header) { h.lsn--; h.durable-- }, flawed: true},
		{name: "higher LSN", change: func(h *header) { h.lsn++ }, flawed: true},
		{name: "lower epoch", change: func(h *header) { h.epoch-- }, flawed: true},
		{name: "higher epoch", change: func(h *header) { h.epoch++ }},
		{name: "previous hash", change: func(h *header) { h.prev[3]++ }, flawed: true},
		{name: "log id", change: func(h *header) { h.logID++ }, flawed: true},
		{name: "durable before written", change: func(h *header) { h.durable = h.lsn }, flawed: true},
		{name: "lower watermark", change: func(h *header) { h.durable = 3 }},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			h := good
			tc.change(&h)
			_, err := newChain(goldenBase).admit(appendFrame(nil, h, payload))
			var f *flaw
			if errors.Is(err, ErrVersion) != tc.version || errors.As(err, &f) != tc.flawed {
				t.Fatalf("got %v", err)
			}
			if tc.flawed && !f.whole {
				t.Errorf("%v: taken for a torn frame", err)
			}
		})
	}
}

// A commit has the same hash in every log; only what belongs to one log may differ.
func TestHashIsTheCommits(t *testing.T) {
	payload := []byte("p")
	one := newChain(goldenBase)
	other := newChain(base{logID: 5, before: goldenBase.before})
	rawOne, posOne := one.extend(nil, 9, payload)
	rawOther, posOther := other.extend(nil, 9, payload)
	if bytes.Equal(rawOne, rawOther) {
		t.Error("the frames do not differ by the log id")
	}
	if posOne != posOther || posOne != Next(goldenBase.before, 9, payload) {
		t.Errorf("positions differ: %v, %v", posOne, posOther)
	}
	changes := []Position{
		Next(goldenBase.before, 10, payload),
		Next(goldenBase.before, 9, []byte("q")),
		Next(Position{LSN: 41, Epoch: 7}, 9, payload),
	}
	for i, p := range changes {
		if p.Hash == posOne.Hash {
			t.Errorf("change %d does not change the hash", i)
		}
	}
}

// FuzzDecodeFrame checks that decoding is total, and that what it accepts encodes back to the same
// bytes.
func FuzzDecodeFrame(f *testing.F) {
	f.Add(goldenFrame())
	f.Add([]byte{})
	f.Add([]byte(frameMagic))
	f.Add(make([]byte, headerBytes))
	f.Fuzz(func(t *testing.T, b []byte) {
		// A fuzzer does not find checksums, so each input is also tried with the right one.
		fixed := bytes.Clone(b)
		if len(fixed) >= headerBytes {
			h, _ := parseHeader(fixed)
			h.crc = checksum(fixed)
			copy(fixed, frameMagic)
			h.put(fixed)
		}
		for _, in := range [][]byte{b, fixed} {
			h, err := decode(in)
			if err != nil {
				continue
			}
			if again := appendFrame(nil, h, in[headerBytes:]); !bytes.Equal(again, in) {
				t.Fatalf("accepted %x, encodes as %x", in, again)
			}
		}
	})
}

// FuzzDecodeBase does the same for the BASE file.
func FuzzDecodeBase(f *testing.F) {
	f.Add(goldenBase.encode())
	f.Add([]byte(baseMagic))
	f.Fuzz(func(t *testing.T, raw []byte) {
		fixed := bytes.Clone(raw)
		if len(fixed) == baseBytes {
			sum := crc32.Checksum(fixed[:offBaseCRC], castagnoli)
			binary.LittleEndian.PutUint32(fixed[offBaseCRC:], sum)
		}
		for _, in := range [][]byte{raw, fixed} {
			b, err := decodeBase(baseName, baseMagic, in)
			if err == nil && !bytes.Equal(b.encode(), in) {
				t.Fatalf("accepted %x, encodes as %x", in, b.encode())
			}
		}
	})
}

// A length has one spelling, and is refused before anything of that length is read.
func TestScannerRefusesLengths(t *testing.T) {
	frame := goldenFrame() // 80 bytes
	for name, prefix := range map[string][]byte{
		"zero":        {0},
		"short":       {headerBytes - 1},
		"long-winded": {0x80 | 80, 0},
		"too large":   binary.AppendUvarint(nil, maxFrame+1),
		"huge":        bytes.Repeat([]byte{0xff}, 12),
	} {
		file := append(bytes.Clone(prefix), frame...)
		var s scanner
		s.reset(bytes.NewReader(file), int64(len(file)))
		if raw, err := s.next(); !errors.As(err, new(*flaw)) {
			t.Errorf("%s: %d bytes, %v", name, len(raw), err)
		}
	}
}

// The scanner cuts what it is given into the same frames whatever their sizes, across the ends of
// its buffer.
func TestScannerAcrossBuffers(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var file []byte
	var sizes []int
	for len(file) < 3*scanBytes {
		n := rng.IntN(MaxPayload + 1)
		if rng.IntN(2) == 0 {
			n = rng.IntN(300)
		}
		sizes = append(sizes, n)
		file = appendEntry(file, make([]byte, headerBytes+n))
	}
	var s scanner
	s.reset(bytes.NewReader(file), int64(len(file)))
	for i, n := range sizes {
		raw, err := s.next()
		if err != nil || len(raw) != headerBytes+n {
			t.Fatalf("frame %d: %d bytes, error %v; want %d", i, len(raw), err, headerBytes+n)
		}
	}
}
