package wal

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// scanBytes is the size of a scanner's buffer, in bytes: the longest entry fits, and reads are large. It
// must be at least maxEntry. It is also the memory of each Reader.
const scanBytes = 2 << 20

// scanner splits a segment file into frames, in constant memory. It checks only lengths; a chain
// verifies the frames.
//
// Invariant: maxEntry <= len(buf), and buf[pos:end] holds the file's bytes from offset on.
type scanner struct {
	src    io.ReaderAt
	limit  int64 // bytes of the file that may be read; a Reader raises it as the log grows
	offset int64 // offset in the file of the next entry
	start  int64 // offset in the file of the entry that next returned or refused
	buf    []byte
	pos    int // index in buf of the next entry
	end    int // index in buf after the last byte read
}

// reset makes s read src from its beginning up to limit. It keeps the buffer.
func (s *scanner) reset(src io.ReaderAt, limit int64) {
	if s.buf == nil {
		s.buf = make([]byte, scanBytes)
	}
	*s = scanner{src: src, limit: limit, buf: s.buf}
}

// next returns the frame of the next entry, unverified and valid until the following call. Its error is
// io.EOF at the limit, a flaw if the bytes cannot be an entry, or that of a failed read.
func (s *scanner) next() ([]byte, error) {
	s.start = s.offset
	b, err := s.window(prefixMax)
	if err != nil {
		return nil, err
	}
	if len(b) == 0 {
		return nil, io.EOF
	}
	size, n := binary.Uvarint(b)
	if n <= 0 || size < headerBytes || size > maxFrame || n != prefixBytes(size) {
		return nil, torn("no entry has this length")
	}
	total := n + int(size)
	if b, err = s.window(total); err != nil {
		return nil, err
	}
	if len(b) < total {
		return nil, torn("the file ends inside the frame")
	}
	s.pos += total
	s.offset += int64(total)
	return b[n:total], nil
}

// window returns the next n bytes, or fewer if the limit comes first.
func (s *scanner) window(n int) ([]byte, error) {
	if s.end-s.pos < n {
		if err := s.fill(); err != nil {
			return nil, err
		}
	}
	return s.buf[s.pos:min(s.pos+n, s.end)], nil
}

// fill moves the unread bytes to the front of the buffer and reads further bytes after them.
func (s *scanner) fill() error {
	s.end = copy(s.buf, s.buf[s.pos:s.end])
	s.pos = 0
	from := s.offset + int64(s.end)
	want := min(int64(len(s.buf)-s.end), s.limit-from)
	if want <= 0 {
		return nil
	}
	n, err := s.src.ReadAt(s.buf[s.end:s.end+int(want)], from)
	s.end += n
	if int64(n) == want {
		return nil
	}
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return fmt.Errorf("read at %d: %w", from, err)
}
