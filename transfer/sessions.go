package transfer

import (
	"context"
	"crypto/rand"
	"errors"
	"os"
	"sync"
	"time"
)

// Errors of a sender. Callers replace them by texts that name what they send.
var (
	// ErrFull is returned by [Sessions.Make] if all places are taken. Another attempt may succeed later.
	ErrFull = errors.New("transfer: as many copies as may be sent at a time are on their way")
	// ErrClosed is returned by [Sessions.Make] after [Sessions.Close].
	ErrClosed = errors.New("transfer: no more copies are sent")
	// ErrNoPiece is returned by [Session.Read] if the files have no such piece, or if the session has ended.
	ErrNoPiece = errors.New("transfer: there is no such piece")
)

// Options are the bounds of [Sessions]. All are required, except Prefix.
type Options struct {
	// Prefix begins the name of each session, which is also the name of its directory.
	Prefix string
	// Places is the number of copies at a time, from the request to the removal of the files. Each takes disk.
	Places int
	// FilesMost is the number of files of a copy. A copy with more is not sent.
	FilesMost int
	// MakeTime bounds the time to make a copy.
	MakeTime time.Duration
	// Idle is the time without a request after which a session ends. A session ends by time rather than by a message
	// alone, because the receiver may die at any moment.
	Idle time.Duration
}

// Export makes a copy in a new directory of that name, and returns its path and what the caller needs to know about it.
// With an error it may return a directory; it is removed.
type Export[T any] func(ctx context.Context, name string) (dir string, info T, err error)

// Sessions are the copies that a process sends at present, with a T about each. Use [NewSessions]. They are safe for
// concurrent use.
//
// Invariant: a place is taken while a copy is being made, while its session is open, and while its files are removed.
type Sessions[T any] struct {
	opts   Options
	ctx    context.Context // ends at Close, and with it the copies being made
	cancel context.CancelFunc

	mu     sync.Mutex
	open   map[string]*Session[T]
	taken  int // places
	closed bool
	work   sync.WaitGroup // calls of Make and open sessions; it grows only under mu and before closed
}

// NewSessions returns sessions of which none is open.
func NewSessions[T any](o Options) *Sessions[T] {
	s := &Sessions[T]{opts: o, open: make(map[string]*Session[T])}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	return s
}

// Make takes a place, makes a copy in the background, and calls answer with its session. Without a place it calls answer
// with [ErrFull] or [ErrClosed], at once and on the caller's goroutine. Other errors are those of export, of the disk,
// and [ManyFilesError]. The session is nil if there is an error. It may have ended when answer is called.
//
// Close waits until answer has returned, so answer must not call Close.
func (s *Sessions[T]) Make(export Export[T], answer func(*Session[T], error)) {
	if err := s.reserve(); err != nil {
		answer(nil, err)
		return
	}
	go func() {
		defer s.work.Done()
		answer(s.make(export))
	}()
}

// reserve takes a place, so that the bound holds while copies are being made.
func (s *Sessions[T]) reserve() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		return ErrClosed
	case s.taken >= s.opts.Places:
		return ErrFull
	}
	s.taken++
	s.work.Add(1)
	return nil
}

// make makes a copy and opens its session, which then has the place. Without a session nothing of the copy is left.
func (s *Sessions[T]) make(export Export[T]) (*Session[T], error) {
	ctx, cancel := context.WithTimeout(s.ctx, s.opts.MakeTime)
	defer cancel()
	n := &Session[T]{Name: s.opts.Prefix + rand.Text(), of: s}
	var err error
	if n.dir, n.Info, err = export(ctx, n.Name); err == nil {
		n.Files, err = List(n.dir, s.opts.FilesMost)
	}
	if err == nil {
		err = s.admit(n)
	}
	if err != nil {
		return nil, errors.Join(err, s.release(n.dir))
	}
	return n, nil
}

// admit opens a session.
func (s *Sessions[T]) admit(n *Session[T]) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return ErrClosed
	}
	s.work.Add(1)
	s.open[n.Name] = n
	n.used = time.Now()
	n.timer = time.AfterFunc(s.opts.Idle, n.expire)
	return nil
}

// release removes the files of a copy, if there are any, and frees its place. It holds no mutex meanwhile, because that
// can take long. What an error leaves on disk is for the caller's next start to remove.
func (s *Sessions[T]) release(dir string) (err error) {
	if dir != "" {
		err = os.RemoveAll(dir)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.taken--
	return err
}

// Find returns an open session and prolongs its life; nil if none has that name.
func (s *Sessions[T]) Find(name string) *Session[T] {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.open[name]
	if n != nil {
		n.used = time.Now()
	}
	return n
}

// Each calls f with what is known about each open session, in no order. f must be short, and must not call the sessions.
func (s *Sessions[T]) Each(f func(T)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, n := range s.open {
		f(n.Info)
	}
}

// Drop ends a session and removes its files. It does nothing if none has that name.
func (s *Sessions[T]) Drop(name string) {
	s.mu.Lock()
	n := s.open[name]
	delete(s.open, name)
	s.mu.Unlock()
	if n != nil {
		n.end()
	}
}

// Close ends all sessions and the copies being made, and waits until their files are removed and every answer has
// returned. Afterwards Make makes nothing. Close may be repeated.
func (s *Sessions[T]) Close() {
	s.mu.Lock()
	s.closed = true
	ended := s.open
	s.open = nil // reads of a nil map find nothing, and nothing is admitted any more
	s.mu.Unlock()
	s.cancel()
	for _, n := range ended {
		n.end()
	}
	s.work.Wait()
}
