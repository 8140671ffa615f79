package core

import (
	"time"

	"github.com/carillon-io/carillon/instant"
	"github.com/carillon-io/carillon/job"
)

// WaitReason is what a run waits for before it can be launched. The values are indexes of arrays and never leave the
// process; their texts do.
type WaitReason uint8

// Reasons to wait. None of them counts as lateness, which is measured from the end of the wait.
const (
	WaitOverlap WaitReason = iota // the turn of its job, while as many runs are in progress as the job allows
	WaitCatchUp                   // a leader, and then the pace at which missed runs are fired
	WaitTarget                    // a place at its target
	WaitRetry                     // the instant of the next attempt
	WaitReasons                   // number of reasons
)

var waitNames = [WaitReasons]string{"overlap", "catch_up", "target", "retry"}

// String returns the word for a reason.
func (r WaitReason) String() string { return waitNames[r] }

// Wait is how long an attempt waited for one reason.
type Wait struct {
	For    WaitReason
	Length time.Duration
}

// measure records how punctual an attempt was launched, and what it had waited for. Punctuality is measured from the
// instant at which the attempt could be launched: it was due, the pace of catching up had released it, it had the
// turn of its job, and its target had a place for it.
func (c *Core) measure(live liveRun, o *job.Outcome) {
	due, byHand := live.due, o.Run.IsManual()
	if run := c.retries[o.Run]; run != nil && run.Attempt > 1 {
		due = run.Due
		if run.Attempt > run.Base+1 {
			c.waited(WaitRetry, due.Sub(run.LaunchedAt)-run.Duration)
		} else {
			byHand = true
		}
	}
	free := c.freeAt(live, due)
	c.waited(WaitCatchUp, free.Sub(due))
	from := free.Time()
	if !o.TurnAt.IsZero() {
		c.waited(WaitOverlap, o.Turn)
		from = o.TurnAt
	}
	c.waited(WaitTarget, o.Place)
	if !byHand {
		c.out.Lateness = append(c.out.Lateness, max(0, o.LaunchedAt.Sub(from)-o.Place))
	}
}

// freeAt returns when an attempt that is due at an instant could be launched, as far as catching up is concerned: not
// before this leadership began, and not before the pace released it.
func (c *Core) freeAt(live liveRun, due instant.Millis) instant.Millis {
	return max(due, c.led, live.paidAt)
}

// notePaid records that the pace of catching up released a run that began in this step.
func (c *Core) notePaid(id job.RunID) {
	if live, ok := c.live[id]; ok && live.fence == c.lsn {
		live.paidAt = c.now
		c.live[id] = live
	}
}

func (c *Core) waited(reason WaitReason, length time.Duration) {
	if length > 0 {
		c.out.Waits = append(c.out.Waits, Wait{reason, length})
	}
}
