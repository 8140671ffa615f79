package wal

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Reader reads the durable commits of a log in order. It is not safe for concurrent use. A log may have
// many readers; readers and appends do not wait for one another.
//
// It verifies every frame again, although Open has done so: what it returns is applied to the store or
// sent to standbys, and damage that came after Open must not spread.
type Reader struct {
	log     *Log
	next    LSN      // the commit that Next returns next
	open    LSN      // first LSN of the open segment; 0 if none is
	file    *os.File // the open segment; nil if none is
	chain   *chain   // stands at the frame of the open segment that was read last
	scanner scanner  // reads file
}

// NewReader returns a reader whose first commit is from. It returns ErrOutOfRange if from is below First or
// above Last().LSN+1, and ErrClosed. The caller must close the reader; it holds a file and about 2 MiB of
// memory. If from is inside a segment, the first Next reads the frames before it, because entries have no
// index. The open file keeps the disk space of a segment that is truncated meanwhile, until the reader goes
// on to another one or is closed.
func (l *Log) NewReader(from LSN) (*Reader, error) {
	if _, err := l.state.locate(from); err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("new reader: %w", err)
	}
	return &Reader{log: l, next: from, chain: newChain(base{logID: l.id})}, nil
}

// Next returns the next commit. At the durable end of the log it returns io.EOF; the caller may call it
// again when the log has grown. It returns ErrOutOfRange if a truncation has removed the commit,
// ErrClosed after Log.Close, and a *CorruptionError if the file has changed since Open verified it.
//
// It verifies each frame as Open does. The payload is valid until the next call.
func (r *Reader) Next() (Frame, error) {
	for {
		seg, err := r.log.state.locate(r.next)
		if errors.Is(err, io.EOF) {
			return Frame{}, io.EOF
		}
		if err == nil {
			err = r.enter(seg)
		}
		if err != nil {
			return Frame{}, fmt.Errorf("read LSN %d: %w", r.next, err)
		}
		f, err := r.read(seg)
		if err != nil {
			return Frame{}, fmt.Errorf("read LSN %d: %w", r.next, err)
		}
		if f.LSN == r.next { // else an earlier commit of the segment, which is skipped
			r.next++
			return f, nil
		}
	}
}

// Close releases the reader's file. A second call does nothing.
func (r *Reader) Close() error {
	if r.file == nil {
		return nil
	}
	err := r.file.Close()
	r.file, r.open = nil, 0
	return err
}

// enter opens the segment unless it is open, and allows the scanner to read up to the durable end of the
// segment. After that point the writer may be in the middle of a frame.
func (r *Reader) enter(seg segment) error {
	if r.open == seg.first() {
		r.scanner.limit = seg.bytes
		return nil
	}
	if err := r.Close(); err != nil {
		return err
	}
	f, err := os.Open(filepath.Join(r.log.opts.Dir, seg.name()))
	if errors.Is(err, fs.ErrNotExist) && r.next < r.log.First() {
		return fmt.Errorf("%w: truncated meanwhile", ErrOutOfRange)
	}
	if err != nil {
		return err
	}
	r.file, r.open = f, seg.first()
	r.chain.last = seg.before
	r.scanner.reset(f, seg.bytes)
	return nil
}

// read returns the next frame of the open segment. locate has checked that there is one.
func (r *Reader) read(seg segment) (Frame, error) {
	raw, err := r.scanner.next()
	var f Frame
	if err == nil {
		f, err = r.chain.admit(raw)
	}
	broken := (*flaw)(nil)
	switch {
	case errors.As(err, &broken):
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		broken = &flaw{reason: "the segment has become shorter"}
	default:
		return f, err
	}
	return Frame{}, &CorruptionError{
		Dir:     r.log.opts.Dir,
		Segment: seg.name(),
		Offset:  r.scanner.start,
		LSN:     r.chain.last.LSN + 1,
		Reason:  broken.reason,
	}
}
