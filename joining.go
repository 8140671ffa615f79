package carillon

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/carillon-io/carillon/job"
)

// The JOINING file on disk; all integers are little-endian. These values are part of the format and must
// not be changed.
//
//	0   4  magic, "CJOI"
//	4   1  version, 1
//	5   3  zero
//	8   8  LSN
//	16  8  epoch
//	24  16 hash
//	40  4  CRC-32C of the bytes before
const (
	joiningMagic   = "CJOI"
	joiningVersion = 1
	joiningBytes   = 44
)

// writeJoining decides the swap: it is to be done from the moment at which the file has its name.
func writeJoining(dir string, at job.Position) error {
	temp := filepath.Join(dir, joiningName+tempSuffix)
	if err := os.WriteFile(temp, encodeJoining(at), 0o640); err != nil {
		return err
	}
	if err := syncPath(temp); err != nil {
		return err
	}
	if err := os.Rename(temp, filepath.Join(dir, joiningName)); err != nil {
		return err
	}
	return syncPath(dir)
}

// readJoining returns the position that a decided swap leads to, and whether there is such a swap.
func readJoining(dir string) (at job.Position, ok bool, err error) {
	path := filepath.Join(dir, joiningName)
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return at, false, nil
	}
	if err == nil {
		at, err = decodeJoining(b)
	}
	if err != nil {
		return at, false, fmt.Errorf("read %s: %w", path, err)
	}
	return at, true, nil
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func encodeJoining(at job.Position) []byte {
	le := binary.LittleEndian
	b := append(make([]byte, 0, joiningBytes), joiningMagic...)
	b = append(b, joiningVersion, 0, 0, 0)
	b = le.AppendUint64(b, at.LSN)
	b = le.AppendUint64(b, at.Epoch)
	return appendSum(append(b, at.Hash[:]...))
}

func appendSum(b []byte) []byte {
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, castagnoli))
}

func decodeJoining(b []byte) (at job.Position, err error) {
	le := binary.LittleEndian
	const body = joiningBytes - 4
	if len(b) != joiningBytes || string(b[:4]) != joiningMagic || crc32.Checksum(b[:body], castagnoli) != le.Uint32(b[body:]) {
		return at, errors.New("the file is damaged; remove the data directory and let the node join anew")
	}
	if b[4] != joiningVersion || [3]byte(b[5:8]) != [3]byte{} {
		return at, fmt.Errorf("the file has version %d, and this program knows %d", b[4], joiningVersion)
	}
	at.LSN, at.Epoch = le.Uint64(b[8:]), le.Uint64(b[16:])
	copy(at.Hash[:], b[24:])
	return at, nil
}
