package terminal

import (
	"io"
	"sync"
	"time"
)

// unblockedBytesMax bounds the text that waits to be written, in bytes: some five thousand lines.
const unblockedBytesMax = 1 << 20

// Unblocked passes text on to another writer from a goroutine of its own, so that Write never waits: neither for a pipe whose reader
// stands still, nor for a stopped terminal. It holds at most 1 MiB. Beyond that it drops the text of a call of Write as a whole, and
// counts it. It ignores errors of the other writer. Safe for concurrent use. Make one with NewUnblocked.
type Unblocked struct {
	to io.Writer

	mu        sync.Mutex
	onDropped func(lines uint64)
	waiting   []byte
	dropped   uint64 // since onDropped was called last
	ended     bool
	wake      chan struct{} // capacity 1
	done      chan struct{} // closed when the goroutine has ended
}

// NewUnblocked begins to pass text on to a writer, until Close.
func NewUnblocked(to io.Writer) *Unblocked {
	u := &Unblocked{to: to, wake: make(chan struct{}, 1), done: make(chan struct{})}
	go u.run()
	return u
}

// OnDropped sets the function that is called, as soon as there is room again, with the number of calls of Write that were dropped. The
// function may call Write.
func (u *Unblocked) OnDropped(tell func(lines uint64)) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.onDropped = tell
}

// Write implements io.Writer. It keeps a copy of the text, and returns no error.
func (u *Unblocked) Write(text []byte) (int, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.ended || len(u.waiting)+len(text) > unblockedBytesMax {
		u.dropped++
		return len(text), nil
	}
	u.waiting = append(u.waiting, text...)
	u.stir()
	return len(text), nil
}

// stir wakes the goroutine.
func (u *Unblocked) stir() {
	select {
	case u.wake <- struct{}{}:
	default:
	}
}

// Dropped returns how many calls of Write were dropped of which OnDropped has not told yet: the other writer stands still.
func (u *Unblocked) Dropped() uint64 {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.dropped
}

// Close ends the goroutine when all that waits is written, and waits for that, for the given time at most. What is written
// later is dropped. A second call waits again.
func (u *Unblocked) Close(most time.Duration) {
	u.mu.Lock()
	u.ended = true
	u.stir()
	u.mu.Unlock()
	select {
	case <-u.done:
	case <-time.After(most):
	}
}

func (u *Unblocked) run() {
	defer close(u.done)
	var spare []byte
	for range u.wake {
		text, ended := u.take(spare)
		if len(text) > 0 {
			_, _ = u.to.Write(text)
			u.tellDropped()
		}
		if ended {
			return
		}
		spare = text[:0]
	}
}

// take returns all that waits, and whether nothing comes after it. The next text that waits goes into spare.
func (u *Unblocked) take(spare []byte) (text []byte, ended bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	text, u.waiting = u.waiting, spare
	return text, u.ended
}

// tellDropped calls OnDropped if something was dropped and what OnDropped writes has room. Otherwise the count stays for the next call.
func (u *Unblocked) tellDropped() {
	u.mu.Lock()
	dropped, tell := u.dropped, u.onDropped
	isDue := dropped > 0 && tell != nil && !u.ended && len(u.waiting) <= unblockedBytesMax/2
	if isDue {
		u.dropped = 0
	}
	u.mu.Unlock()
	if isDue {
		tell(dropped)
	}
}
