package wal

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// SaveTail copies the commits after keep to the new file saveAs and returns their number. If there are
// none it creates no file. It does not change the log, and appends may go on meanwhile; the copy ends at
// the Last of the moment when SaveTail was called.
//
// The file holds the frames of these commits in the format of a segment; DumpFile reads it. When
// SaveTail returns without an error, the file is durable and verified. After an error it does not exist
// or is complete. SaveTail returns ErrOutOfRange if keep is below First-1, ErrClosed after Close, and
// fs.ErrExist if saveAs exists: it never overwrites a file that was saved for an operator.
func (l *Log) SaveTail(keep LSN, saveAs string) (saved int, err error) {
	l.trimming.Lock() // so that no truncation removes a segment while it is read
	defer l.trimming.Unlock()
	b, segments, last, err := l.state.extent()
	var r *logTail
	if err == nil {
		b.logID = l.id
		r, err = findLogTail(l.opts.Dir, b, segments, keep, last)
	}
	if err == nil && r != nil {
		err = r.save(l.opts.disk, saveAs)
	}
	if err != nil {
		return 0, fmt.Errorf("save the log after LSN %d: %w", keep, err)
	}
	return r.commits(), nil
}

// extent returns where the log begins and ends, and the segments between.
func (s *state) extent() (b base, segments []segment, last Position, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return b, nil, last, ErrClosed
	}
	return base{before: s.base}, slices.Clone(s.segments), s.last, nil
}

// logTail is the end of a log: the commits after a position. It refers to the segment files that hold
// them, so the caller must keep these from being removed.
type logTail struct {
	dir      string
	logID    uint64
	after    Position
	last     Position
	segments []segment // the files that hold it
	offset   int64     // of its first frame in the first segment, in bytes
}

// commits returns the number of commits; 0 for a nil logTail.
func (r *logTail) commits() int {
	if r == nil {
		return 0
	}
	return int(r.last.LSN - r.after.LSN)
}

// findLogTail finds the commits after keep in the verified segments of a log that ends at last. It returns
// nil if there are none.
func findLogTail(dir string, b base, segments []segment, keep LSN, last Position) (*logTail, error) {
	if keep < b.before.LSN {
		return nil, fmt.Errorf("%w: the log begins after LSN %d", ErrOutOfRange, b.before.LSN)
	}
	if keep >= last.LSN {
		return nil, nil
	}
	i, found := slices.BinarySearchFunc(segments, keep+1, func(seg segment, lsn LSN) int {
		return cmp.Compare(seg.first(), lsn)
	})
	if !found {
		i--
	}
	r := &logTail{dir: dir, logID: b.logID, last: last, segments: segments[i:]}
	if err := r.seek(keep); err != nil {
		return nil, fmt.Errorf("segment %s: %w", segments[i].name(), err)
	}
	return r, nil
}

// seek reads the first segment up to the commit keep, and sets the position and the offset after it.
func (r *logTail) seek(keep LSN) error {
	seg := r.segments[0]
	f, err := os.Open(filepath.Join(r.dir, seg.name()))
	if err != nil {
		return err
	}
	defer f.Close()
	w := &walk{
		survey:  &survey{cut: &Position{LSN: keep}},
		chain:   newChain(base{logID: r.logID, before: seg.before}),
		sizeMax: maxSegmentFile,
	}
	w.scanner.reset(f, seg.bytes)
	if err := w.frames(); err != nil {
		return fmt.Errorf("frame at %d: %w", w.scanner.start, err)
	}
	if w.chain.last.LSN != keep {
		return fmt.Errorf("the segment has become shorter: it ends at LSN %d", w.chain.last.LSN)
	}
	r.after, r.offset = w.chain.last, w.scanner.offset
	return nil
}

// save writes the frames to the file at path. It writes and verifies a temporary file and then renames
// it, so that path never names an incomplete file.
func (r *logTail) save(d disk, path string) error {
	path, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	if filepath.Dir(path) == r.dir {
		return fmt.Errorf("save to %s: it must not be in the log's directory, which holds nothing else", path)
	}
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("save to %s: %w", path, cmp.Or(err, fs.ErrExist))
	}
	src := &logTailReader{logTail: r}
	temp := path + tempSuffix
	err = errors.Join(d.write(temp, src), src.close())
	if err == nil {
		err = verifyCopy(temp, base{logID: r.logID, before: r.after}, r.last)
	}
	if err == nil {
		err = d.rename(temp, path)
	}
	if err != nil {
		_ = os.Remove(temp) // to free its space; the error to report is the earlier one
		return fmt.Errorf("save to %s: %w", path, err)
	}
	return d.syncDir(filepath.Dir(path))
}

// logTailReader reads the bytes of a logTail, with one segment open at a time.
type logTailReader struct {
	*logTail
	next int // index in segments of the one to open next
	file *os.File
	part io.Reader
}

// Read implements io.Reader.
func (r *logTailReader) Read(p []byte) (int, error) {
	for {
		if r.file == nil {
			if r.next == len(r.segments) {
				return 0, io.EOF
			}
			if err := r.open(); err != nil {
				return 0, err
			}
		}
		n, err := r.part.Read(p)
		if n > 0 || !errors.Is(err, io.EOF) {
			return n, err
		}
		if err := r.close(); err != nil {
			return 0, err
		}
	}
}

// open opens the next segment at its first byte that belongs to the logTail.
func (r *logTailReader) open() (err error) {
	seg, from := r.segments[r.next], int64(0)
	if r.next == 0 {
		from = r.offset
	}
	if r.file, err = os.Open(filepath.Join(r.dir, seg.name())); err != nil {
		return err
	}
	r.part = io.NewSectionReader(r.file, from, seg.bytes-from)
	r.next++
	return nil
}

// close closes the open segment, if there is one. Read calls it at the end of each segment, and save once
// more, because a failed write ends the reading early.
func (r *logTailReader) close() error {
	if r.file == nil {
		return nil
	}
	err := r.file.Close()
	r.file = nil
	return err
}
