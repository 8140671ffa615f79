package wal

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
)

// DumpFile calls fn for each commit in a file that SaveTail or CutTail made, in order. The payload is
// valid during the call. Each frame is verified: its checksum, and that it continues the one before it;
// what the first one continues is only said, in its Prev. So fn has been called for every commit before
// the damage that a *CorruptionError reports; such a file is written whole or not at all, so that a
// torn end is damage too, and so is a file without a frame. An error of fn ends it and is returned,
// wrapped; ErrVersion and the errors of reads may be.
func DumpFile(path string, fn func(Frame) error) error {
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("dump file: %w", err)
	}
	defer f.Close()
	w := &walk{survey: &survey{visit: fn}, sizeMax: math.MaxInt64}
	err = w.file(f)
	if broken := (*flaw)(nil); errors.As(err, &broken) {
		err = &CorruptionError{
			Dir:     filepath.Dir(path),
			Segment: filepath.Base(path),
			Offset:  w.scanner.start,
			LSN:     w.nextLSN(),
			Reason:  broken.reason,
		}
	}
	if err != nil {
		return fmt.Errorf("dump file: %w", err)
	}
	return nil
}

// file walks over a file of frames that begins anywhere in a log: the first frame says where.
func (w *walk) file(f *os.File) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	w.scanner.reset(f, info.Size())
	raw, err := w.scanner.next()
	if errors.Is(err, io.EOF) {
		err = torn("the file has no frame")
	}
	if err != nil {
		return err
	}
	h, err := decode(raw)
	if err != nil {
		return err
	}
	w.chain = newChain(base{logID: h.logID, before: Position{LSN: h.lsn - 1, Hash: h.prev}})
	w.scanner.reset(f, info.Size())
	return w.frames()
}

// nextLSN returns the LSN of the frame that the walk has come to; 0 if it has seen none.
func (w *walk) nextLSN() LSN {
	if w.chain == nil {
		return 0
	}
	return w.chain.last.LSN + 1
}
