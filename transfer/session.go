package transfer

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// Session is one copy that is being sent. Its exported fields do not change. It is safe for concurrent use.
type Session[T any] struct {
	Name  string // no other session of any process has it
	Files []File // in the order by which receivers name them
	Info  T      // returned by the [Export] that made the copy

	of    *Sessions[T]
	dir   string      // holds the files, and is removed at the end
	timer *time.Timer // calls expire

	// Guarded by the mutex of the sessions.
	used  time.Time // when the last request came
	onEnd []func()
}

// Read returns the piece of a file that begins at an offset: most bytes, or fewer at the end of the file. It prolongs
// the life of the session. The file is an index into Files, because the request comes from another process, which must
// not choose a path. A file or an offset that does not exist is [ErrNoPiece].
func (n *Session[T]) Read(file int, offset, most int64) ([]byte, error) {
	if most < 1 {
		return nil, fmt.Errorf("transfer: a piece of at most %d bytes has no content", most)
	}
	if n.of.Find(n.Name) != n || file < 0 || file >= len(n.Files) || offset < 0 || offset >= n.Files[file].Size {
		return nil, ErrNoPiece
	}
	f, err := os.Open(filepath.Join(n.dir, filepath.FromSlash(n.Files[file].Name)))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ErrNoPiece // the session has ended meanwhile
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	piece := make([]byte, min(most, n.Files[file].Size-offset))
	if _, err := f.ReadAt(piece, offset); err != nil {
		return nil, err
	}
	return piece, nil
}

// OnEnd calls f once when the session ends, before its files are removed; at once if it has ended. f must not end the
// sessions.
func (n *Session[T]) OnEnd(f func()) {
	n.of.mu.Lock()
	ended := n.of.open[n.Name] != n
	if !ended {
		n.onEnd = append(n.onEnd, f)
	}
	n.of.mu.Unlock()
	if ended {
		f()
	}
}

// expire ends a session that was idle for its time. Requests do not move the timer: it finds here that it came too early.
func (n *Session[T]) expire() {
	n.of.mu.Lock()
	left := n.of.opts.Idle - time.Since(n.used)
	switch {
	case n.of.open[n.Name] != n: // it has ended
		n.of.mu.Unlock()
		return
	case left > 0:
		n.timer.Reset(left)
		n.of.mu.Unlock()
		return
	}
	delete(n.of.open, n.Name)
	n.of.mu.Unlock()
	n.end()
}

// end releases what a session has. The caller has removed it from the open ones, and so is the only one to end it.
func (n *Session[T]) end() {
	defer n.of.work.Done()
	n.timer.Stop()
	for _, f := range n.onEnd {
		f()
	}
	_ = n.of.release(n.dir)
}
