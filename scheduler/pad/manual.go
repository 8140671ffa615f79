package pad

import (
	"slices"
	"time"

	"github.com/carillon-io/carillon/instant"
)

// Manual drives a pad in place of [Pad.Serve], for callers that set the clock themselves: what the tick and the
// feeders do happens inside its calls. Only one goroutine at a time may use it. One round is Take, Read and Launch.
// The calls are separate so that a simulation can put a change of a job between the moment at which a feeder has
// chosen a launch and the moment at which it has read the row.
type Manual struct {
	pad    *Pad
	feeder feeder
	inHand []*waiting // taken, and not read yet
	due    []*waiting // scratch
}

// DriveManually returns the driver of a pad on which Serve is never called.
func (p *Pad) DriveManually() *Manual { return &Manual{pad: p, feeder: feeder{pad: p}} }

// Take takes launches in hand whose rows are to be read, as many as a feeder would, and returns how many are in hand.
func (m *Manual) Take(now instant.Millis) int {
	m.inHand, _ = m.pad.unreadChunk(now, m.inHand)
	return len(m.inHand)
}

// Read reads the rows of the first n launches in hand, which leave the hand. Those that are due and have a place are
// sent at once.
func (m *Manual) Read(n int) {
	m.feeder.readAll(m.inHand[:n])
	m.inHand = slices.Delete(m.inHand, 0, n)
}

// Launch passes due launches to the sender, like one round of the tick. It returns how many left, and whether more are
// due.
func (m *Manual) Launch(now instant.Millis) (left int, more bool) {
	more, m.due = m.pad.launchDue(now, m.due[:0])
	return len(m.due), more
}

// Wants reports whether a launch waits for Take and may leave as soon as its row is read.
func (m *Manual) Wants() bool { return m.pad.wants() }

// unreadChunk is feedChunk over all feeds, for a single caller that does the work of every feeder.
func (p *Pad) unreadChunk(now instant.Millis, chunk []*waiting) (_ []*waiting, wait time.Duration) {
	for more := true; more; {
		more = false
		for n := range p.feeds {
			var next time.Duration
			chunk, next = p.feedChunk(n, now, chunk)
			if n == 0 {
				wait, more = next, next == 0
			}
		}
	}
	return chunk, wait
}

// NextLater returns when the next launch is to be prepared; 0 if there is none.
func (p *Pad) NextLater() instant.Millis {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.later) == 0 {
		return 0
	}
	return p.later[0].Due - horizon
}
