package wal

import (
	"bytes"
	"errors"
	"maps"
	"testing"
)

// FuzzOpen overwrites a part of one segment of a good log and opens it. Whatever is there, Open
// must not panic; if it refuses, nothing may have changed; if it accepts, what it reads is what was
// written, and the log goes on.
func FuzzOpen(f *testing.F) {
	const commits = 2*testSegmentLSNs + 3
	good := contents(f, newTestLog(f, commits))
	f.Add(uint8(2), uint16(2*testEntryBytes), uint16(testEntryBytes), []byte(nil))
	f.Add(uint8(2), uint16(testEntryBytes+1), uint16(3), []byte("CWAL"))
	f.Add(uint8(1), uint16(500), uint16(1), []byte{0})
	f.Add(uint8(2), uint16(3*testEntryBytes), uint16(0), make([]byte, 40))
	f.Fuzz(func(t *testing.T, file uint8, at, length uint16, patch []byte) {
		names := sortedNames(good)[:3] // the segments; BASE comes last
		name := names[int(file)%len(names)]
		files := maps.Clone(good)
		files[name] = splice(files[name], int(at), int(length), patch)
		opts := testOptions(writeContents(t, files))
		opts.disk = idleDisk{}
		l, err := Open(opts)
		if err != nil {
			if !maps.Equal(contents(t, opts.Dir), files) {
				t.Fatalf("a refused log was changed: %v", err)
			}
			if !errors.As(err, new(*CorruptionError)) && !errors.Is(err, ErrVersion) {
				t.Fatalf("refused without a place: %v", err)
			}
			return
		}
		defer l.Close()
		checkFrames(t, l, 1, l.Last().LSN)
		if name != names[2] && l.Last().LSN < 2*testSegmentLSNs {
			t.Fatalf("damage in %s was cut off as a torn tail", name)
		}
		mustAppend(t, l, 1)
	})
}

// splice replaces length bytes of s at an offset, or as many as there are.
func splice(s string, at, length int, patch []byte) string {
	at = min(at, len(s))
	end := min(at+length, len(s))
	return string(bytes.Join([][]byte{[]byte(s[:at]), patch, []byte(s[end:])}, nil))
}
