package snapshot

import "sync"

// gate counts the calls that are inside a store, so that Close can wait for them: Pebble panics if it is
// used after its Close. A read lock would not do: while Close waits for it, a call from inside another
// call, such as a Get from the function of a scan, would block, and Close with it. The zero value is
// open.
//
// Invariant: inside is never negative, and does not grow while shut is set.
type gate struct {
	mu     sync.Mutex
	inside int           // calls for which enter returned true and leave is still to come
	shut   bool          // set by close, for ever
	empty  chan struct{} // closed when the last call leaves a shut gate; nil while the gate is open
}

// enter counts a call that begins, and reports whether it may: false if the gate is shut.
func (g *gate) enter() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.shut {
		return false
	}
	g.inside++
	return true
}

// leave counts the end of a call for which enter returned true.
func (g *gate) leave() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.inside--
	if g.shut && g.inside == 0 {
		close(g.empty)
	}
}

// close shuts the gate and returns a channel that is closed when no call is inside any more. It is
// called once.
func (g *gate) close() <-chan struct{} {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.shut, g.empty = true, make(chan struct{})
	if g.inside == 0 {
		close(g.empty)
	}
	return g.empty
}
