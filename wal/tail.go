package wal

import (
	"bytes"
	"fmt"
	"io"
)

// judge decides whether bytes that are not the next frame are a torn tail, which it records in the
// survey, or damage, which it returns.
//
// A torn tail can only be in the last segment, because the library syncs a segment before it creates the
// next. A witness decides, because a frame is written only after the one before it was synced: an intact
// later frame proves that the bad one was durable, and no intact frame can follow a torn one.
func (w *walk) judge(broken *flaw, seg segment, last bool) error {
	damage := &CorruptionError{
		Dir:     w.survey.dir,
		Segment: seg.name(),
		Offset:  seg.bytes,
		LSN:     w.chain.last.LSN + 1,
		Reason:  broken.reason,
	}
	if !last || broken.whole {
		return damage
	}
	search := witnessSearch{src: w.scanner.src, limit: w.scanner.limit, logID: w.chain.logID, bad: damage.LSN}
	at, err := search.from(seg.bytes + 1)
	if err != nil {
		return err
	}
	if at >= 0 {
		damage.Reason += fmt.Sprintf("; the intact frame after offset %d shows that it was durable", at)
		return damage
	}
	w.survey.torn = w.scanner.limit - seg.bytes
	return nil
}

// witnessSearch looks for a witness: a whole frame of this log that was built when the LSN bad was
// already durable. A damaged length hides where the next frame begins, so it tries every offset.
//
// The search costs one pass over the rest of the file for the magic. It reads a whole frame only where
// the header fits, so that a file full of magics does not make it quadratic.
type witnessSearch struct {
	src   io.ReaderAt
	limit int64  // length of the file, in bytes
	logID uint64 // of the log; a witness has it
	bad   LSN    // the commit that is missing; a witness has a watermark at or above it
	buf   []byte // a window of the file
	frame []byte // a candidate; allocated for the first one, since most searches have none
}

// from returns the offset of the first witness at or after off, or -1.
func (s *witnessSearch) from(off int64) (int64, error) {
	s.buf = make([]byte, min(scanBytes, s.limit))
	for off+headerBytes <= s.limit {
		b := s.buf[:min(int64(len(s.buf)), s.limit-off)]
		if _, err := s.src.ReadAt(b, off); err != nil {
			return 0, fmt.Errorf("read at %d: %w", off, err)
		}
		at, next, err := s.window(b, off)
		if err != nil || at >= 0 {
			return at, err
		}
		off += next
	}
	return -1, nil
}

// window looks for witnesses whose header lies in b, the bytes of the file at off. It returns the offset
// of the first one, or -1 and the number of bytes that the search may skip.
func (s *witnessSearch) window(b []byte, off int64) (at, done int64, err error) {
	pos := 0
	for {
		i := bytes.Index(b[pos:], []byte(frameMagic))
		if i < 0 || pos+i+headerBytes > len(b) {
			break
		}
		pos += i
		ok, err := s.testifies(b[pos:], off+int64(pos))
		if err != nil {
			return 0, 0, err
		}
		if ok {
			return off + int64(pos), 0, nil
		}
		pos++
	}
	// A header may begin in the last bytes of b and end after them.
	return -1, int64(len(b) - headerBytes + 1), nil
}

// testifies reports whether the frame whose header begins b, at off in the file, is a witness. The cheap
// tests come first; the log id alone excludes payloads that imitate a frame. The version does not
// matter, since the frames of a newer program are witnesses too.
func (s *witnessSearch) testifies(b []byte, off int64) (bool, error) {
	h, ok := parseHeader(b)
	total := headerBytes + int64(h.length)
	if !ok || h.logID != s.logID || h.durable < s.bad || off+total > s.limit {
		return false, nil
	}
	if s.frame == nil {
		s.frame = make([]byte, min(maxFrame, s.limit))
	}
	frame := s.frame[:total]
	if _, err := s.src.ReadAt(frame, off); err != nil {
		return false, fmt.Errorf("read at %d: %w", off, err)
	}
	return checksum(frame) == h.crc, nil
}
