package scheduler

import (
	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/scheduler/core"
)

// touches returns the job that a proposal changes; 0 if it does not exist yet.
func (g *gathering) touches(p core.Proposal) job.ID {
	var h core.NameHash
	switch p := p.(type) {
	case *core.Put:
		h = p.Hash
	case *core.Delete:
		h = p.Hash
	case *core.Pause:
		h = p.Hash
	case *core.CancelRun:
		return p.Run.Job
	default:
		return 0
	}
	return g.engine.core.IDOf(h)
}

// size reads the size of the job that a proposal deletes, unless the proposer has read the newest one. The loop does it,
// because no commit can come between it and the step.
func (g *gathering) size(p core.Proposal) {
	d, ok := p.(*core.Delete)
	if !ok || g.engine.core.IsNewest(d) {
		return
	}
	if err := g.engine.readDeleted(d); err != nil {
		d.Err = err
	}
}

// withdraw removes the waiting launches of the job that a proposal changes from the pad. Attempts in flight keep their
// turns until their outcomes are in the log, because a put may change which outcomes end a run. It happens before the
// step and not after it, so that no launch leaves by the old definition while the change is being committed. The step
// owns the launches from here on: it ends them or puts them back.
func (g *gathering) withdraw(p core.Proposal, id job.ID) {
	w, ok := p.(core.Withdrawer)
	if !ok || id == 0 {
		return
	}
	if _, changes := p.(*core.Put); changes {
		g.engine.pad.HangOn(id)
	}
	launches := w.Withdrawals()
	if *launches = append(*launches, g.engine.pad.Take(id)...); len(*launches) > 0 {
		g.taken[id] = struct{}{}
	}
	if x, ok := p.(*core.CancelRun); ok { // an attempt that has not left by now does not leave
		x.Attempt, x.Begun = g.engine.pad.Flight(x.Run)
	}
}
