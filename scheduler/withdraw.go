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
}
