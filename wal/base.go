package wal

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// The BASE file on disk, and the CUT file, which has the same layout. These values are part of the
// format and must not be changed.
const (
	baseName  = "BASE"
	baseMagic = "CBAS"
	cutName   = "CUT"
	cutMagic  = "CCUT"
	baseBytes = 52

	// baseVersionAlone is the version of CUT, and of a BASE that an older release wrote: there may be no
	// SEGMENTS file beside it. baseVersionListed is that of a BASE with one.
	baseVersionAlone  = 1
	baseVersionListed = 2

	offBaseVersion = 4 // then three zero bytes
	offBaseLogID   = 8
	offBaseLSN     = 16
	offBaseEpoch   = 24
	offBaseHash    = 32
	offBaseCRC     = 48
)

// base is where a log begins. It is replaced, atomically, before segments are removed from the
// front, so that a log knows its position even when no frame is left in it.
type base struct {
	logID  uint64   // random, made with the log, and in each of its frames
	before Position // the position before the first kept frame
	listed bool     // a SEGMENTS file belongs to it, so that its loss is noticed
}

// newLogID returns a number that nobody outside can guess, so that no payload can hold a frame of
// this log.
func newLogID() uint64 {
	var b [8]byte
	rand.Read(b[:]) // never fails
	return binary.LittleEndian.Uint64(b[:])
}

func (b base) encode() []byte { return b.encodeAs(baseMagic) }

func (b base) encodeAs(magic string) []byte {
	le := binary.LittleEndian
	out := make([]byte, baseBytes)
	copy(out, magic)
	out[offBaseVersion] = baseVersionAlone
	if b.listed && magic == baseMagic {
		out[offBaseVersion] = baseVersionListed
	}
	le.PutUint64(out[offBaseLogID:], b.logID)
	le.PutUint64(out[offBaseLSN:], b.before.LSN)
	le.PutUint64(out[offBaseEpoch:], b.before.Epoch)
	copy(out[offBaseHash:offBaseCRC], b.before.Hash[:])
	le.PutUint32(out[offBaseCRC:], crc32.Checksum(out[:offBaseCRC], castagnoli))
	return out
}

// decodeBase decodes a whole file of this name and magic. Its error is a flaw, or ErrVersion.
func decodeBase(name, magic string, b []byte) (base, error) {
	le := binary.LittleEndian
	if len(b) != baseBytes || string(b[:offBaseVersion]) != magic {
		return base{}, torn("this is no " + name + " file")
	}
	if crc32.Checksum(b[:offBaseCRC], castagnoli) != le.Uint32(b[offBaseCRC:]) {
		return base{}, torn("the checksum does not match")
	}
	version := b[offBaseVersion]
	if version != baseVersionAlone && (version != baseVersionListed || magic != baseMagic) {
		return base{}, fmt.Errorf("%w %d of a %s file", ErrVersion, version, name)
	}
	if [3]byte(b[offBaseVersion+1:offBaseLogID]) != [3]byte{} {
		return base{}, misplaced("the unused bytes are not zero")
	}
	return base{
		logID: le.Uint64(b[offBaseLogID:]),
		before: Position{
			LSN:   le.Uint64(b[offBaseLSN:]),
			Epoch: le.Uint64(b[offBaseEpoch:]),
			Hash:  Hash(b[offBaseHash:offBaseCRC]),
		},
		listed: version == baseVersionListed,
	}, nil
}

// readBase reads the file of this name and magic in dir. A missing one is damage: BASE is written
// before the first commit is accepted, and CUT is read only where it was seen.
func readBase(dir, name, magic string) (base, error) {
	f, err := os.Open(filepath.Join(dir, name))
	if errors.Is(err, fs.ErrNotExist) {
		return base{}, &CorruptionError{Dir: dir, Segment: name, Reason: "the file is missing"}
	}
	if err != nil {
		return base{}, err
	}
	defer f.Close()
	raw, err := io.ReadAll(io.LimitReader(f, baseBytes+1))
	if err != nil {
		return base{}, err
	}
	b, err := decodeBase(name, magic, raw)
	if f := (*flaw)(nil); errors.As(err, &f) {
		return base{}, &CorruptionError{Dir: dir, Segment: name, Reason: f.reason}
	}
	return b, err
}
