package scheduler

import (
	"slices"
	"time"

	"github.com/carillon-io/carillon/instant"
)

// manualPad drives a pad in place of serve, for callers that set the clock themselves: what the tick and the feeders do
// happens inside its calls. Only one goroutine at a time may use it.
type manualPad struct {
	pad    *pad
	feeder feeder
	inHand []*waiting // taken, and not read yet
	due    []*waiting // scratch
}

// driveManually returns the driver of a pad that does not serve.
func (p *pad) driveManually() *manualPad { return &manualPad{pad: p, feeder: feeder{pad: p}} }

// take takes launches whose cold rows are to be read, as far as there is room, and returns how many are in hand.
func (m *manualPad) take(now instant.Millis) int {
	m.inHand, _ = m.pad.unreadChunk(now, m.inHand)
	return len(m.inHand)
}

// read reads the rows of the first n launches in hand, and makes them ready.
func (m *manualPad) read(n int) {
	m.feeder.readAll(m.inHand[:n])
	m.inHand = slices.Delete(m.inHand, 0, n)
}

// launch passes due launches to the sender. It returns how many, and whether more are due.
func (m *manualPad) launch(now instant.Millis) (left int, more bool) {
	more, m.due = m.pad.launchDue(now, m.due[:0])
	return len(m.due), more
}

// wants reports whether a launch waits for take and may leave once its row is read.
func (m *manualPad) wants() bool { return m.pad.wants() }

// unreadChunk is feedChunk over all feeds, for a single caller that does the work of every feeder.
func (p *pad) unreadChunk(now instant.Millis, chunk []*waiting) (_ []*waiting, wait time.Duration) {
	for n := range p.feeds {
		chunk, wait = p.feedChunk(n, now, chunk)
	}
	return chunk, wait
}

// nextLater returns when the next launch is to be prepared; 0 if there is none.
func (p *pad) nextLater() instant.Millis {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.later) == 0 {
		return 0
	}
	return p.later[0].Due - padHorizon
}
