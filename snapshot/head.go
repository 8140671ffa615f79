package snapshot

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"

	"github.com/cockroachdb/pebble/v2"

	"github.com/carillon-io/carillon/job"
)

// The head row holds the position of the last applied commit. Every commit rewrites it in the same
// Pebble batch as its rows.
//
//	0   1  version, 1
//	1   8  LSN
//	9   8  epoch
//	17  16 hash of the commit's frame
//	33  4  CRC-32C of the bytes before
//
// All numbers are big-endian. Pebble's blocks have checksums of their own. This one also covers the row
// between Apply and its block, because recovery as a whole relies on the position.
const (
	headVersion = 1
	headBytes   = 37
)

// Keys whose first byte is zero are reserved for the store: no row of a commit has such a key. They sort
// before all rows, and Get and Scan do not return them. headEnd is the smallest key after headKey.
var (
	headKey  = []byte{0, 'h', 'e', 'a', 'd'}
	headEnd  = []byte{0, 'h', 'e', 'a', 'd', 0}
	firstRow = []byte{1}
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// appendHead appends the head row's value for the position at.
func appendHead(b []byte, at job.Position) []byte {
	start := len(b)
	b = append(b, headVersion)
	b = binary.BigEndian.AppendUint64(b, at.LSN)
	b = binary.BigEndian.AppendUint64(b, at.Epoch)
	b = append(b, at.Hash[:]...)
	return binary.BigEndian.AppendUint32(b, crc32.Checksum(b[start:], castagnoli))
}

// decodeHead decodes the head row's value. It returns ErrVersion, or an error that says what is damaged.
func decodeHead(b []byte) (at job.Position, err error) {
	if len(b) > 0 && b[0] != headVersion {
		return at, fmt.Errorf("%w: the head row has version %d, and this program knows %d", ErrVersion, b[0], headVersion)
	}
	if len(b) != headBytes {
		return at, fmt.Errorf("snapshot: the head row is damaged: %d bytes, want %d", len(b), headBytes)
	}
	if crc32.Checksum(b[:33], castagnoli) != binary.BigEndian.Uint32(b[33:]) {
		return at, errors.New("snapshot: the head row is damaged: its checksum does not match")
	}
	at.LSN, at.Epoch = binary.BigEndian.Uint64(b[1:]), binary.BigEndian.Uint64(b[9:])
	copy(at.Hash[:], b[17:])
	return at, nil
}

// readHead returns the position of the durable rows. It ignores the memtables. The position is zero if
// no commit is durable yet.
func readHead(db *pebble.DB) (at job.Position, err error) {
	it, err := db.NewIter(&pebble.IterOptions{
		LowerBound: headKey, UpperBound: headEnd, OnlyReadGuaranteedDurable: true,
	})
	if err != nil {
		return at, err
	}
	if it.First() {
		at, err = decodeHead(it.Value())
	}
	return at, errors.Join(err, it.Close())
}
