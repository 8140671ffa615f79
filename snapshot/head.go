package snapshot

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"

	"github.com/cockroachdb/pebble/v2"

	"github.com/carillon-io/carillon/job"
)

// The head row tells which commit the store is at. Its key begins with zero, which no kind of row
// does, so it stands before all of them.
//
//	0   1  version, 1
//	1   8  LSN
//	9   8  epoch
//	17  16 hash of the commit's frame
//	33  4  CRC-32C of the bytes before
//
// All numbers are big-endian.
var headKey = []byte{0, 'h', 'e', 'a', 'd'}

const (
	headVersion = 1
	headBytes   = 37
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func encodeHead(at job.Position) []byte {
	b := append(make([]byte, 0, headBytes), headVersion)
	b = binary.BigEndian.AppendUint64(b, at.LSN)
	b = binary.BigEndian.AppendUint64(b, at.Epoch)
	b = append(b, at.Hash[:]...)
	return binary.BigEndian.AppendUint32(b, crc32.Checksum(b, castagnoli))
}

func decodeHead(b []byte) (at job.Position, err error) {
	if len(b) > 0 && b[0] != headVersion {
		return at, fmt.Errorf("%w: the head row has version %d, this program reads %d", ErrVersion, b[0], headVersion)
	}
	if len(b) != headBytes || crc32.Checksum(b[:headBytes-4], castagnoli) != binary.BigEndian.Uint32(b[headBytes-4:]) {
		return at, errors.New("snapshot: the head row is damaged")
	}
	at.LSN, at.Epoch = binary.BigEndian.Uint64(b[1:]), binary.BigEndian.Uint64(b[9:])
	copy(at.Hash[:], b[17:])
	return at, nil
}

// readHead returns where the store is. A store that has rows but no head is not ours.
func (s *Store) readHead() (job.Position, error) {
	value, ok, err := s.Get(headKey)
	if err != nil {
		return job.Position{}, err
	}
	if ok {
		return decodeHead(value)
	}
	empty := true
	err = s.Scan(nil, nil, func(_, _ []byte) (bool, error) { empty = false; return false, nil })
	if err == nil && !empty {
		err = fmt.Errorf("%w: %s has rows without a head row", ErrForeign, s.opts.Dir)
	}
	return job.Position{}, err
}

// Durable returns the position that a crash at this moment would leave at least.
func (s *Store) Durable() (at job.Position, err error) {
	it, err := s.db.NewIter(&pebble.IterOptions{
		LowerBound: headKey, UpperBound: append(headKey[:len(headKey):len(headKey)], 0),
		OnlyReadGuaranteedDurable: true,
	})
	if err != nil {
		return at, fmt.Errorf("snapshot: read the durable position: %w", err)
	}
	if it.First() {
		at, err = decodeHead(it.Value())
	}
	return at, errors.Join(err, it.Close())
}
