package snapshot

import "errors"

// stick records that a goroutine inside Pebble has been parked or ended.
func (f *fault) stick() { f.stuckOnce.Do(func() { close(f.stuck) }) }

// isStuck reports whether a goroutine inside Pebble has been parked or ended.
func (f *fault) isStuck() bool {
	select {
	case <-f.stuck:
		return true
	default:
		return false
	}
}

// isDamage reports whether a failure is damage that a read has found. It leaves Pebble itself in order.
func isDamage(failure error) bool {
	_, ok := errors.AsType[*DamageError](failure)
	return ok
}

// closeDamaged closes Pebble after damage that a read has found, and reports whether it has. The changes of the directory that
// have met the damage and wait, such as the removal of an obsolete file, go on, and so does the work for our callers that is still
// inside. Pebble is not closed if the failure is another one, or if a goroutine inside Pebble gets stuck meanwhile, such as that
// of a compaction which reads the damage. Nothing is flushed unless a flush was under way. It is called once, when no call is
// inside the gate.
func (f *fault) closeDamaged(closePebble func() error) bool {
	if !isDamage(f.err()) || f.isStuck() {
		return false
	}
	close(f.closing)
	closed := make(chan struct{})
	go func() {
		f.awaitIdle()
		_ = closePebble() // the failure is the error of the store, whatever this one is
		close(closed)
	}()
	select {
	case <-closed:
		return !f.isStuck()
	case <-f.stuck:
		return false
	}
}

// worked counts the end of a call of start.
func (f *fault) worked() {
	if f.works.Add(-1) > 0 {
		return
	}
	select {
	case f.idle <- struct{}{}:
	default: // there is an element already
	}
}

// awaitIdle waits until no call of start is under way. No other begins meanwhile.
func (f *fault) awaitIdle() {
	for f.works.Load() > 0 {
		<-f.idle
	}
}
