package pad

import (
	"github.com/carillon-io/carillon/instant"
	"github.com/carillon-io/carillon/job"
)

// Hold keeps on the pad whatever has not left, until Resume, and with the sender what waits there because nobody has received it.
// Launches that were admitted before it may still reach the sender shortly afterwards. They count as flying from their admission on,
// so that Flying has them.
func (p *Pad) Hold() {
	p.mu.Lock()
	p.held = true
	p.mu.Unlock()
	p.gate.Shut()
}

// Gate returns the gate of all deliveries of the pad.
func (p *Pad) Gate() *job.Gate { return &p.gate }

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
	p.gate.Open()
	p.wake(instant.LongAgo)
}

// flyLocked notes that an attempt is with the sender. It takes the place of an earlier one of its run.
func (p *Pad) flyLocked(run job.RunID, f inFlight) {
	p.landLocked(run)
	p.flying[run] = f
	if f.isSent {
		p.sent++
	}
}

// landLocked notes that no attempt of a run is with the sender.
func (p *Pad) landLocked(run job.RunID) {
	if p.flying[run].isSent {
		p.sent--
	}
	delete(p.flying, run)
}

// Flying returns how many attempts are with the sender, but for those that wait there because nobody has received them, and how many
// of these NATS answers, and not their target. While the pad is not held, the answer may be outdated at once.
func (p *Pad) Flying() (all, sent int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	kept := p.gate.Kept()
	return len(p.flying) - kept, p.sent - kept
}

// WhenLanded returns a channel of capacity 1 that is signalled when no attempt is with the sender. A signal may be an
// old one: its receiver asks Flying again.
func (p *Pad) WhenLanded() <-chan struct{} { return p.landed }
