package dispatch

import (
	"context"
	"time"

	"github.com/carillon-io/carillon/job"
)

// timeoutDefault stands in for a delivery without a timeout.
const timeoutDefault = 30 * time.Second

// phase is how far an attempt has come.
type phase uint8

const (
	starting phase = iota // its goroutine has not begun
	linking               // waits for the connection to NATS
	sending               // its sender has begun
	told                  // its outcome is told
)

// attempt is one launch on its way. The fields fall into groups by who may touch them.
type attempt struct {
	delivery *job.Delivery
	done     func(job.Outcome)
	followed *followed // nil: there is no tracer

	// Guarded by the ledger's mutex; once the phase is told, nobody writes them again.
	number   uint64 // counts what the ledger accepted
	phase    phase
	carried  bool // a goroutine is at it, and gives its place back
	place    int  // in the ledger's heap
	deadline time.Duration
	patience time.Duration // the deadline that begin replaced
	began    time.Time
	abort    context.CancelFunc

	lane *lane // where it has its place
	// Guarded by the mutex of replies.
	token uint64 // 0 is none
	life  uint64 // of the connection that it was published on
}

func (a *attempt) kind() job.TargetKind { return a.delivery.Target.Kind }

func (a *attempt) timeout() time.Duration {
	if a.delivery.Timeout <= 0 {
		return timeoutDefault
	}
	return a.delivery.Timeout
}

// weight is what the attempt counts against the bounds of bytes.
func (a *attempt) weight() int64 { return int64(len(a.delivery.Payload)) }

// outcome completes what outcomeOf says to what is told at the instant now.
func (a *attempt) outcome(now time.Time, o job.Outcome) job.Outcome {
	o.Run, o.Attempt = a.delivery.Run, a.delivery.Attempt
	if !a.began.IsZero() {
		o.LaunchedAt = a.began
		o.Duration = now.Sub(a.began)
	}
	return o
}
