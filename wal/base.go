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

// The layout of the BASE file, which the CUT file shares. These values are part of the format and must
// not change.
const (
	baseName  = "BASE"
	baseMagic = "CBAS"
	cutName   = "CUT"
	cutMagic  = "CCUT"
	baseBytes = 52

	// baseVersionAlone is the version of each CUT file, and of a BASE file from a release that wrote no
	// SEGMENTS file. baseVersionListed is the version of a BASE that requires a SEGMENTS file beside it.
	baseVersionAlone  = 1
	baseVersionListed = 2

	offBaseVersion = 4 // then three zero bytes
	offBaseLogID   = 8
	offBaseLSN     = 16
	offBaseEpoch   = 24
	offBaseHash    = 32
	offBaseCRC     = 48
)

// base says where a log begins. BASE is replaced atomically before segments are removed from the front,
// so a log knows its position even when it keeps no frame. The same type, with another magic, is the
// content of CUT, which says where a log ends.
type base struct {
	logID  uint64   // random; drawn when the log is created, and repeated in each of its frames
	before Position // the position before the first kept frame
	listed bool     // the log has a SEGMENTS file, so that a missing one is damage
}

// newLogID returns a random number that no client can know. Therefore a client's payload cannot contain
// bytes that pass for a frame of this log. Otherwise a client could turn the torn tail of a crash into
// damage, which no start accepts.
func newLogID() uint64 {
	var b [8]byte
	rand.Read(b[:]) // never fails
	return binary.LittleEndian.Uint64(b[:])
}

// encode returns the bytes of the BASE file.
func (b base) encode() []byte { return b.encodeAs(baseMagic) }

// encodeAs returns the bytes of the BASE or the CUT file; magic selects which.
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

// decodeBase decodes a BASE or CUT file. b is the whole file; name and magic are those that it must
// have. Its error is a flaw, or ErrVersion. The checksum comes before the version: a flipped bit in the
// version is damage and must not send the operator in search of a newer program.
func decodeBase(name, magic string, b []byte) (base, error) {
	le := binary.LittleEndian
	if len(b) != baseBytes || string(b[:offBaseVersion]) != magic {
		return base{}, torn("this is not a " + name + " file")
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

// readBase reads the file with this name and magic in dir. A missing file is damage: BASE is written
// before the first commit is accepted, and readBase is called for CUT only if the directory listing has
// it.
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
