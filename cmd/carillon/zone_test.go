package main

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"strconv"

	"github.com/rogpeppe/go-internal/testscript"
)

// cmdZone writes a timezone file with a constant offset from UTC: zone DIR NAME SECONDS.
func cmdZone(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: zone dir name seconds")
	}
	offset, err := strconv.Atoi(args[2])
	ts.Check(err)
	data := append([]byte("TZif"), make([]byte, 16)...)
	for _, count := range []uint32{0, 0, 0, 0, 1, 4} { // one kind of time, whose name has four bytes
		data = binary.BigEndian.AppendUint32(data, count)
	}
	data = binary.BigEndian.AppendUint32(data, uint32(int32(offset)))
	data = append(data, 0, 0, 'X', 'X', 'X', 0)
	path := filepath.Join(ts.MkAbs(args[0]), filepath.FromSlash(args[1]))
	ts.Check(os.MkdirAll(filepath.Dir(path), 0o700))
	ts.Check(os.WriteFile(path, data, 0o600))
}
