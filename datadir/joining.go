package datadir

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/carillon-io/carillon/job"
)

// The JOINING file on disk; all integers are little-endian. These values are part of the format and must
// not be changed.
//
//	0   4  magic, "CJOI"
//	4   1  version, 2
//	5   1  what becomes of the old data: see fate
//	6   2  zero
//	8   8  LSN
//	16  8  epoch
//	24  16 hash
//	40  8  milliseconds since 1970: what is put aside is named by it
//	48  4  CRC-32C of the bytes before
//
// Version 1 has no byte 5 and no milliseconds: the old data is removed.
const (
	joiningMagic    = "CJOI"
	joiningVersion  = 2
	joiningBytes    = 52
	joiningBytesOne = 44
)

// Fate says what happens to the data that is replaced. The values are on disk. Zero is what version 1 of the file
// means.
type Fate uint8

const (
	Removed  Fate = iota // removed: the cluster has all of it, or there is none
	Replaced             // put aside, because the cluster does not have it; the node never removes it
	Behind               // put aside until the next replacement, because it is not known whether the cluster has it
)

// swap is the content of a JOINING file. It is decided once and never changes: a repeated step derives every name from
// it, so that it finds what it made before the crash.
type swap struct {
	at   job.Position // position of the received store
	fate Fate         // what happens to the old data
	when time.Time    // time of the swap, to the millisecond
}

// writeJoining decides the swap: from the moment at which the file has its name, the swap will be completed. The file
// is complete and durable under its temporary name before it gets its own, so a crash leaves the whole decision or
// none.
func writeJoining(dir string, s swap) error {
	temp := filepath.Join(dir, JoiningName+tempSuffix)
	if err := os.WriteFile(temp, encodeJoining(s), 0o600); err != nil {
		return err
	}
	if err := syncPath(temp); err != nil {
		return err
	}
	if err := os.Rename(temp, filepath.Join(dir, JoiningName)); err != nil {
		return err
	}
	return syncPath(dir)
}

// readJoining returns the decided swap, and reports whether there is one.
func readJoining(dir string) (s swap, ok bool, err error) {
	path := filepath.Join(dir, JoiningName)
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return s, false, nil
	}
	if err == nil {
		s, err = decodeJoining(b)
	}
	if err != nil {
		return s, false, fmt.Errorf("read %s: %w", path, err)
	}
	return s, true, nil
}

// checkJoining returns an error if the file JOINING cannot be read.
func checkJoining(dir string, _ reader) error {
	_, _, err := readJoining(dir)
	return err
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func encodeJoining(s swap) []byte {
	le := binary.LittleEndian
	b := append(make([]byte, 0, joiningBytes), joiningMagic...)
	b = append(b, joiningVersion, byte(s.fate), 0, 0)
	b = le.AppendUint64(b, s.at.LSN)
	b = le.AppendUint64(b, s.at.Epoch)
	b = append(b, s.at.Hash[:]...)
	return appendSum(le.AppendUint64(b, uint64(s.when.UnixMilli())))
}

func appendSum(b []byte) []byte {
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, castagnoli))
}

// It verifies the checksum before it reads anything else, and accepts any bytes without a panic.
func decodeJoining(b []byte) (s swap, err error) {
	le := binary.LittleEndian
	body := len(b) - 4
	if body < joiningBytesOne-4 || string(b[:4]) != joiningMagic || crc32.Checksum(b[:body], castagnoli) != le.Uint32(b[body:]) {
		return s, errors.New("the file is damaged; remove the data directory and let the node join anew")
	}
	one := b[4] == 1 && len(b) == joiningBytesOne && b[5] == 0
	two := b[4] == joiningVersion && len(b) == joiningBytes && Fate(b[5]) <= Behind
	if !one && !two || [2]byte(b[6:8]) != [2]byte{} {
		return s, fmt.Errorf("the file has version %d, and this program knows 1 and %d", b[4], joiningVersion)
	}
	s.at.LSN, s.at.Epoch = le.Uint64(b[8:]), le.Uint64(b[16:])
	copy(s.at.Hash[:], b[24:])
	if two {
		s.fate, s.when = Fate(b[5]), time.UnixMilli(int64(le.Uint64(b[40:])))
	}
	return s, nil
}
