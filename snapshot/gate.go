package snapshot

import "sync"

// gate counts the calls inside a store, so that Close waits for them: Pebble panics when it is used
// after its end. It is no read lock, because that would hang a call made from inside another, as from
// the function of a scan, while Close waits. The zero value is open.
type gate struct {
	mu     sync.Mutex
	inside int
	shut   bool
	empty  chan struct{} // closed when the last call leaves a shut gate; nil while it is open
}

// enter lets a call in unless the gate is shut, and tells whether it did.
func (g *gate) enter() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.shut {
		return false
	}
	g.inside++
	return true
}

// leave ends a call that enter let in.
func (g *gate) leave() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.inside--
	if g.shut && g.inside == 0 {
		close(g.empty)
	}
}

// close shuts the gate, once, and returns a channel that is closed when nobody is inside any more.
func (g *gate) close() <-chan struct{} {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.shut, g.empty = true, make(chan struct{})
	if g.inside == 0 {
		close(g.empty)
	}
	return g.empty
}
