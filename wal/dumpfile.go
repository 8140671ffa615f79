package wal

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
)

// DumpFile calls fn for each commit in a file that SaveTail or CutTail wrote, in order. The payload is
// valid only during the call. DumpFile verifies the checksum of each frame and that the frame continues
// the one before it; the Prev of the first frame stays unverified, since its predecessor is not in the
// file.
//
// It returns a *CorruptionError after it has called fn for every commit before the damage. SaveTail and
// CutTail write a file whole or not at all, so a torn end is damage too, and so is a file without a
// frame. It also returns ErrVersion, errors of reads, and, wrapped, the first error of fn, after which
// it stops.
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

// file verifies a file of frames that may begin at any LSN: the first frame says where.
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

// nextLSN returns the LSN of the frame that the walk expects next; 0 if it has seen no frame.
func (w *walk) nextLSN() LSN {
	if w.chain == nil {
		return 0
	}
	return w.chain.last.LSN + 1
}
