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

// closeDamaged closes Pebble after a failure that is damage which a read has found, and reports whether it has. Such a failure
// leaves Pebble itself in order, unless a change of the directory has met the failure and stands still, or work for our callers
// is still inside. Pebble ends its log and removes what is obsolete; nothing is flushed.
func (f *fault) closeDamaged(closePebble func() error) bool {
	if _, ok := errors.AsType[*DamageError](f.err()); !ok || f.works.Load() > 0 || f.isStuck() {
		return false
	}
	f.closing.Store(true)
	select {
	case <-f.start(closePebble): // the failure is the error of the store, whatever this one is
		return !f.isStuck()
	case <-f.stuck:
		return false
	}
}
