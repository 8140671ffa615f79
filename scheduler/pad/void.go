package pad

import (
	"github.com/carillon-io/carillon/instant"
	"github.com/carillon-io/carillon/job"
)

// Void removes the launches of runs whose ends are about to be committed, so that no launch follows an end that is
// durable. When it returns, an attempt of these runs that has left is with the sender, which can abort it. The runs
// keep their turns until EndRuns. The loop calls it before the commit: if that fails, the engine stops, and the next
// start launches from the rows.
func (p *Pad) Void(runs []job.RunID) {
	if len(runs) == 0 {
		return
	}
	p.sending.Lock()
	defer p.sending.Unlock()
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, run := range runs {
		p.forgetLocked(run)
	}
}

// VoidCancelled is Void for the runs that some of the outcomes cancel. It notes in these outcomes which attempt is with the sender, and
// when it was launched; no other one is launched afterwards.
func (p *Pad) VoidCancelled(outcomes []job.Outcome) {
	p.sending.Lock()
	defer p.sending.Unlock()
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := range outcomes {
		o := &outcomes[i]
		if o.Cancelled == 0 {
			continue
		}
		p.forgetLocked(o.Run)
		if f, ok := p.flying[o.Run]; ok {
			o.Attempt, o.LaunchedAt = f.attempt, f.since.Time()
		}
	}
}

// Flight returns the attempt of a run that is with the sender, and when it was launched; zeros if none is.
func (p *Pad) Flight(run job.RunID) (attempt uint32, since instant.Millis) {
	p.mu.Lock()
	defer p.mu.Unlock()
	f := p.flying[run]
	return f.attempt, f.since
}
