package datadir

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/wal"
)

// The file ANCESTORS on disk; all integers are little-endian. These values are part of the format and must not be changed.
//
//	0   4  magic, "CANC"
//	4   1  version, 1
//	5   3  zero
//	8   8  LSN of the base of the log
//	16  8  its epoch
//	24  16 its hash
//	40  24 for each ancestor, in the order of the log: epoch and hash
//	-4  4  CRC-32C of the bytes before
//
// It belongs to the log that begins at that base, and to no other: so it is written before the log is, and what a crash leaves of
// it beside another log counts for nothing.
const (
	ancestorsMagic   = "CANC"
	ancestorsVersion = 1
	ancestorsHead    = 40
	ancestorBytes    = 24
	ancestorsMost    = 1 << 16 // a bound for a damaged file
)

// ancestors are the positions of the commits before the base of a log, which the log does not keep.
type ancestors struct {
	base job.Position
	list []job.Position // consecutive, up to the one before base
}

// find returns the position of an ancestor of the base.
func (a *ancestors) find(lsn uint64, base job.Position) (job.Position, bool) {
	n := uint64(len(a.list))
	if a.base != base || lsn >= base.LSN || lsn+n < base.LSN {
		return job.Position{}, false
	}
	return a.list[lsn+n-base.LSN], true
}

// write stores the ancestors durably in the directory of a shard. Without any it removes what another log has left.
func (a *ancestors) write(dir string) error {
	if len(a.list) == 0 {
		err := os.Remove(filepath.Join(dir, AncestorsName))
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	}
	return replaceFile(dir, AncestorsName, a.encode())
}

func (a *ancestors) encode() []byte {
	b := append(make([]byte, 0, ancestorsHead+len(a.list)*ancestorBytes+4), ancestorsMagic...)
	b = append(b, ancestorsVersion, 0, 0, 0)
	b = binary.LittleEndian.AppendUint64(b, a.base.LSN)
	for _, at := range append([]job.Position{a.base}, a.list...) {
		b = append(binary.LittleEndian.AppendUint64(b, at.Epoch), at.Hash[:]...)
	}
	return appendSum(b)
}

// It verifies the checksum before it reads anything else, and accepts any bytes without a panic.
func decodeAncestors(b []byte) (a ancestors, err error) {
	le, body := binary.LittleEndian, len(b)-4
	if body < ancestorsHead || string(b[:4]) != ancestorsMagic || crc32.Checksum(b[:body], castagnoli) != le.Uint32(b[body:]) {
		return a, errors.New("the file is damaged")
	}
	if b[4] != ancestorsVersion {
		return a, fmt.Errorf("the file has version %d, and this program knows %d", b[4], ancestorsVersion)
	}
	n := (body - ancestorsHead) / ancestorBytes
	a.base.LSN = le.Uint64(b[8:])
	if n*ancestorBytes != body-ancestorsHead || [3]byte(b[5:8]) != [3]byte{} || n > ancestorsMost || uint64(n) > a.base.LSN {
		return a, errors.New("the file is damaged")
	}
	positionAt := func(offset int, lsn uint64) job.Position {
		at := job.Position{LSN: lsn, Epoch: le.Uint64(b[offset:])}
		copy(at.Hash[:], b[offset+8:])
		return at
	}
	a.base = positionAt(16, a.base.LSN)
	for i := range n {
		a.list = append(a.list, positionAt(ancestorsHead+i*ancestorBytes, a.base.LSN-uint64(n-i)))
	}
	return a, nil
}

// readAncestors returns the ancestors of a log with a base. None is no error, and nor is a file that cannot be read: without it
// the node only knows less of what was before its log.
func readAncestors(dir string, base job.Position, logger *slog.Logger) *ancestors {
	a, err := decodeAncestorsIn(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return &ancestors{}
	case err != nil:
		logger.Warn("the ancestors of the log are not known", slog.String("file", filepath.Join(dir, AncestorsName)), slog.Any("error", err))
		return &ancestors{}
	case a.base != base: // of a log that there is no more
		return &ancestors{}
	}
	return &a
}

func decodeAncestorsIn(dir string) (ancestors, error) {
	b, err := os.ReadFile(filepath.Join(dir, AncestorsName))
	if err != nil {
		return ancestors{}, err
	}
	return decodeAncestors(b)
}

// checkAncestors returns an error if the file ANCESTORS cannot be read. A start goes on without it.
func checkAncestors(dir string, _ reader) error {
	_, err := decodeAncestorsIn(dir)
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return passedOver{fmt.Errorf("%s: %w; a start knows less of what was before the log", filepath.Join(dir, AncestorsName), err)}
}

// Lineage is what a shard knows of the commits of its log. It stays usable, and finds nothing any more, when CutTail or Adopt
// replaces the log. It is safe for concurrent use.
type Lineage struct {
	log       *wal.Log
	ancestors *ancestors
}

// Lineage returns what the shard knows of the commits of its log now.
func (s *Shard) Lineage() Lineage { return Lineage{s.log, s.ancestors} }

// lineageBytesMost bounds what Before reads of the log at a time.
const lineageBytesMost = 32 << 20

// Before returns the positions of the newest commits before lsn, in their order and without a gap: at most so many, and fewer
// where no more are known or the commits are large.
func (l Lineage) Before(lsn uint64, most int) []job.Position {
	for n := uint64(most); n > 0; n /= 2 {
		if list, ok := l.between(max(1, lsn-min(lsn, n)), lsn); ok {
			return list
		}
	}
	return nil
}

// between returns the positions of the commits from one up to another, as far back as they are known. ok is false if that would be
// too much to read, or fails.
func (l Lineage) between(from, to uint64) (list []job.Position, ok bool) {
	base := l.log.Base()
	for ; from < min(to, base.LSN); from++ {
		if at, known := l.ancestors.find(from, base); known {
			list = append(list, at)
		}
	}
	if from == base.LSN && from < to {
		list = append(list, base)
		from++
	}
	if from >= to {
		return list, true
	}
	r, err := l.log.NewReader(from)
	if err != nil {
		return nil, false
	}
	defer func() { _ = r.Close() }() // it was only read
	for bytes := 0; from < to; from++ {
		f, err := r.Next()
		if bytes += len(f.Payload); err != nil || bytes > lineageBytesMost {
			return nil, false
		}
		list = append(list, f.Position)
	}
	return list, true
}
