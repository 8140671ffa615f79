package pad

import "github.com/carillon-io/carillon/instant"

// Hold keeps on the pad whatever has not left, until Resume. Launches that were admitted before it may still reach the
// sender shortly afterwards. They count as flying from their admission on, so that IsEmpty waits for them.
func (p *Pad) Hold() {
	p.mu.Lock()
	p.held = true
	p.mu.Unlock()
}

// Resume allows launches to leave again. Turns that became free meanwhile go to the launches that wait for them.
func (p *Pad) Resume() {
	p.mu.Lock()
	p.held = false
	for id, queue := range p.parked {
		if p.turns[id].mayTake(queue[0]) {
			p.stallLocked(id, p.clock())
		}
	}
	p.mu.Unlock()
	p.wake(instant.LongAgo)
}

// IsEmpty reports whether no attempt is with the sender. While the pad is not held, the answer may be outdated at
// once.
func (p *Pad) IsEmpty() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.flying) == 0
}

// WhenLanded returns a channel of capacity 1 that is signalled when no attempt is with the sender. A signal may be an
// old one: its receiver checks IsEmpty again.
func (p *Pad) WhenLanded() <-chan struct{} { return p.landed }
