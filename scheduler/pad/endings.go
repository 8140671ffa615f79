package pad

import "github.com/carillon-io/carillon/job"

// Endings is the set of outcomes of an attempt that certainly end its run. At such an outcome the pad frees the turn
// of the run before the outcome is in the log, so that the next run need not wait for a commit. At every other outcome
// the run keeps its turn until the core has decided what follows: another attempt, the wait for a report, or the end.
// Such an early turn is safe because the core computes the set from the same policy by which it decides the end; if
// the process crashes before the outcome is in the log, the run is launched again, as after any crash. The zero value
// frees no turn early.
type Endings uint8

const (
	EndsTaken   Endings = 1 << iota // the target accepted the attempt
	EndsRefused                     // the target blames the request
	EndsFailed                      // the attempt failed for another reason
)

// ends reports whether an outcome of a launched attempt certainly ends the run.
func (e Endings) ends(o *job.Outcome) bool {
	switch {
	case o.Error == "":
		return e&EndsTaken != 0
	case o.Refused:
		return e&EndsRefused != 0
	}
	return e&EndsFailed != 0
}

// passOnLocked frees the turn of a run whose end is known. If launches wait for the turn, the tick launches the first
// of them, because the caller may hold sending.
func (p *Pad) passOnLocked(run job.RunID) {
	if p.vacateLocked(run) && !p.held {
		p.stallLocked(run.Job, p.clock())
	}
}

// HangOn makes the attempts of a job that are with the sender keep their turns until their outcomes are in the log. It
// is called before a change of the job, which may change what ends its runs. If such an attempt freed its turn by the
// old definition, and the new one retried it, two runs of a job that allows one could be in progress.
func (p *Pad) HangOn(id job.ID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	going, some := p.turns[id]
	if !some {
		return
	}
	p.hangOnLocked(going.first)
	for _, run := range going.more {
		p.hangOnLocked(run)
	}
}

// hangOnLocked makes the attempt of a run that is with the sender, if there is one, keep its turn until its outcome
// is in the log.
func (p *Pad) hangOnLocked(run job.RunID) {
	if f, flying := p.flying[run]; flying && f.ends != 0 {
		f.ends = 0
		p.flying[run] = f
	}
}
