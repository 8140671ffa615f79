package wal

import (
	"bytes"
	"path/filepath"
	"testing"
)

// The search finds a witness at every place, also where its header lies across the ends of two
// windows; and it takes only frames of this log that were built when the bad commit was durable.
func TestWitnessSearch(t *testing.T) {
	const bad = 7
	witness := header{version: frameVersion, kind: kindCommit, lsn: 9, logID: 5, durable: bad}
	early := witness
	early.durable = bad - 1
	stranger := witness
	stranger.logID = 6
	newer := witness
	newer.version = frameVersion + 1
	for name, tc := range map[string]struct {
		h    header
		want bool
	}{
		"witness": {witness, true}, "newer version": {newer, true},
		"built too early": {early, false}, "another log": {stranger, false},
	} {
		frame := appendFrame(nil, tc.h, []byte("payload"))
		places := []int{1, 2, scanBytes - len(frame), scanBytes - headerBytes, scanBytes - 30, scanBytes - 1, scanBytes}
		for _, at := range places {
			file := append(make([]byte, at), frame...)
			file = append(file, make([]byte, 100)...)
			s := witnessSearch{src: bytes.NewReader(file), limit: int64(len(file)), logID: 5, bad: bad}
			got, err := s.from(1)
			if err != nil || (got == int64(at)) != tc.want {
				t.Errorf("%s at %d: found at %d, %v", name, at, got, err)
			}
			file[at+headerBytes]++ // a damaged frame proves nothing
			if got, err := s.from(1); err != nil || got != -1 {
				t.Errorf("damaged %s at %d: found at %d, %v", name, at, got, err)
			}
		}
	}
}

// A witness far behind the damage is found, across the windows of the search.
func TestWitnessFarBehind(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "wal")
	opts := testOptions(dir)
	opts.SegmentBytes = 16 << 20
	l := mustOpen(t, opts)
	for range 6 {
		if _, err := l.Append(1, bytes.Repeat([]byte("CWAL"), MaxPayload/4)); err != nil {
			t.Fatal(err)
		}
	}
	mustClose(t, l)
	editFile(t, segmentFiles(t, dir)[0], func(b []byte) []byte {
		clear(b[100 : len(b)-maxEntry])
		return b
	})
	_, err := Open(opts)
	if c := wantCorruption(t, err); c.LSN != 1 || c.Offset != 0 {
		t.Fatal(err)
	}
}
