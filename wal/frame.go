package wal

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
)

// MaxPayload is the largest payload of one commit, in bytes. It is part of the format: a reader refuses a
// larger length before it allocates anything, and a scanner's buffer must hold a whole frame. The batches of
// the scheduler are bounded a little below it.
const MaxPayload = 1 << 20

// The layout of a frame. These values are part of the format and must not change. Every version keeps
// the layout of the header, so that a program can distinguish a whole frame of an unknown version from a
// damaged one.
const (
	frameMagic   = "CWAL"
	frameVersion = 1
	kindCommit   = 1 // 0 is invalid

	offVersion = 4
	offKind    = 5
	offFlags   = 6
	offLength  = 8
	offLSN     = 12
	offEpoch   = 20
	offPrev    = 28
	offLogID   = 44
	offDurable = 52
	offCRC     = 60

	headerBytes   = 64
	identityBytes = offLogID // the hashed part of the header
	maxFrame      = headerBytes + MaxPayload
)

// castagnoli is the polynomial of all checksums of the log; processors compute it in hardware.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Frame is one commit as the log holds it, decoded and verified.
type Frame struct {
	Position      // LSN, epoch and hash of this commit
	Prev     Hash // hash of the commit before it; zero for LSN 1
	Durable  LSN  // highest LSN that was durable when this frame was built; always below LSN
	// Payload is valid until the next call of the method that returned the frame. The caller must not
	// change it.
	Payload []byte
}

// header is the fixed part of a frame. The fields up to prev are the commit's identity and equal on every
// node; the others belong to this copy of the log.
type header struct {
	version uint8
	kind    uint8  // kindCommit
	flags   uint16 // 0; a frame with other flags is refused, so that they can get a meaning later
	length  uint32 // of the payload, in bytes
	lsn     LSN
	epoch   uint64 // of the leadership that made the commit; never falls along the log
	prev    Hash   // of the frame before; of BASE for the first frame
	logID   uint64
	durable LSN    // see Frame.Durable
	crc     uint32 // see checksum
}

// put encodes h into the first headerBytes of b.
func (h *header) put(b []byte) {
	le := binary.LittleEndian
	copy(b, frameMagic)
	b[offVersion] = h.version
	b[offKind] = h.kind
	le.PutUint16(b[offFlags:], h.flags)
	le.PutUint32(b[offLength:], h.length)
	le.PutUint64(b[offLSN:], h.lsn)
	le.PutUint64(b[offEpoch:], h.epoch)
	copy(b[offPrev:offLogID], h.prev[:])
	le.PutUint64(b[offLogID:], h.logID)
	le.PutUint64(b[offDurable:], h.durable)
	le.PutUint32(b[offCRC:], h.crc)
}

// parseHeader decodes the header at the start of b. It returns false if b is too short, or if the magic
// or the length rule out a frame. If it returns true, length is at most MaxPayload, so the caller may
// allocate that much. It accepts every version and checks nothing else: witnesses of a newer program
// count, and the checksum must be verified before any other field is believed.
func parseHeader(b []byte) (header, bool) {
	if len(b) < headerBytes || string(b[:offVersion]) != frameMagic {
		return header{}, false
	}
	le := binary.LittleEndian
	h := header{
		version: b[offVersion],
		kind:    b[offKind],
		flags:   le.Uint16(b[offFlags:]),
		length:  le.Uint32(b[offLength:]),
		lsn:     le.Uint64(b[offLSN:]),
		epoch:   le.Uint64(b[offEpoch:]),
		prev:    Hash(b[offPrev:offLogID]),
		logID:   le.Uint64(b[offLogID:]),
		durable: le.Uint64(b[offDurable:]),
		crc:     le.Uint32(b[offCRC:]),
	}
	return h, h.length <= MaxPayload
}

// decode returns the header of b, which must be exactly one frame. Its error is a flaw, or ErrVersion
// for a whole frame of another version.
func decode(b []byte) (header, error) {
	h, ok := parseHeader(b)
	if !ok || len(b) != headerBytes+int(h.length) {
		return h, torn("no frame is here")
	}
	if checksum(b) != h.crc {
		return h, torn("the checksum does not match")
	}
	return h, h.check()
}

// check validates the fields of a header whose checksum is correct.
func (h *header) check() error {
	switch {
	case h.version != frameVersion:
		return fmt.Errorf("%w %d of a frame", ErrVersion, h.version)
	case h.kind != kindCommit:
		return misplaced("the frame has the unknown type %d", h.kind)
	case h.flags != 0:
		return misplaced("the frame has the unknown flags %#x", h.flags)
	case h.durable >= h.lsn:
		return misplaced("the frame says that LSN %d was durable before LSN %d was written", h.durable, h.lsn)
	}
	return nil
}

// checksum returns the CRC32C of a frame: all of it but the checksum itself. The checksum decides whether
// bytes are a frame at all, without knowledge of other frames, which is what a search for witnesses needs.
// The hash cannot replace it: it is not stored in the frame itself but in the one after it.
func checksum(frame []byte) uint32 {
	return crc32.Update(crc32.Checksum(frame[:offCRC], castagnoli), castagnoli, frame[headerBytes:])
}

// appendFrame appends the frame of h and payload to dst, and fills in its length and checksum.
func appendFrame(dst []byte, h header, payload []byte) []byte {
	start := len(dst)
	h.length = uint32(len(payload))
	var head [headerBytes]byte
	h.put(head[:])
	dst = append(append(dst, head[:]...), payload...)
	frame := dst[start:]
	binary.LittleEndian.PutUint32(frame[offCRC:], checksum(frame))
	return dst
}
