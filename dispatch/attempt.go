package dispatch

import (
	"context"
	"time"

	"github.com/carillon-io/carillon/job"
)

// timeoutDefault is the timeout of a delivery that has none. Without it, a target that never answers would
// keep a place for ever.
const timeoutDefault = 30 * time.Second

// phase says how far an attempt has come. It only moves forward, except that retreat moves it from sending
// back to linking. The ledger decides by it which of several endings of an attempt is the first.
type phase uint8

const (
	starting  phase = iota // accepted; its goroutine has not begun
	linking                // waits to be published to NATS
	sending                // its sender has begun
	concluded              // its outcome is determined; the outcome is reported once, soon after
)

// attempt is one launch from its acceptance to its outcome. Its fields are grouped by the lock that
// guards them; those without a lock do not change after Launch.
type attempt struct {
	delivery *job.Delivery
	done     func(job.Outcome)
	followed *followed // nil: there is no tracer
	link     *link     // by which it is published; nil for kinds without NATS
	asks     bool      // of the kind nats: NATS is to say if nobody receives the message

	// Guarded by the ledger's mutex; not written again once the phase is concluded.
	number   uint64 // counts what the ledger accepted; a Cancel concerns the attempts up to a number
	phase    phase
	carried  bool               // a goroutine carries the attempt, and releases its place itself
	place    int                // index in the ledger's heap
	deadline time.Duration      // of the present step, counted from the ledger's start
	patience time.Duration      // the deadline for the begin of the attempt, which begin replaced; retreat restores it
	setback  error              // why it is not sent yet although the connection is up; nil: the connection is down
	kept     bool               // its gate counts it as one that waits
	first    time.Time          // when it was first sent and nobody received it; zero: that has not happened
	began    time.Time          // when its sender began; zero: it was never sent
	abort    context.CancelFunc // ends the context of the sender; nil unless carried

	lane *lane // the lane in which it has its place
	// Guarded by the mutex of replies.
	token replyToken // in its reply subject; its number is 0 if there is none
	life  uint64     // life of the connection (see NATS.life) when it was published
}

func (a *attempt) kind() job.TargetKind { return a.delivery.Target.Kind }

// hasReply reports whether the message of the attempt has a reply subject.
func (a *attempt) hasReply() bool { return a.asks || a.kind() != job.TargetNATS }

// timeout returns the time that the attempt has for its answer.
func (a *attempt) timeout() time.Duration {
	if a.delivery.Timeout <= 0 {
		return timeoutDefault
	}
	return a.delivery.Timeout
}

// weight returns what the attempt counts against the bounds of payload bytes. Headers do not count: their
// bound is small beside that of a payload.
func (a *attempt) weight() int64 { return int64(len(a.delivery.Payload)) }

// outcome completes the outcome o, which outcomeOf has made, with the run, the attempt and the times.
// now is the end of the attempt.
func (a *attempt) outcome(now time.Time, o job.Outcome) job.Outcome {
	o.Run, o.Attempt = a.delivery.Run, a.delivery.Attempt
	if !a.began.IsZero() {
		o.LaunchedAt = a.began
		o.Duration = now.Sub(a.began)
	}
	return o
}
