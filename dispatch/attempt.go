package dispatch

import (
	"context"
	"strings"
	"time"

	"github.com/carillon-io/carillon/job"
)

// timeoutDefault stands in for a delivery without a timeout.
const timeoutDefault = 30 * time.Second

// phase is how far an attempt has come.
type phase uint8

const (
	queued  phase = iota // waits for its turn at its target
	linking              // waits for the connection to NATS
	sending              // its sender has begun
	told                 // its outcome is told
)

// attempt is one launch on its way. The fields fall into groups by who may touch them.
type attempt struct {
	delivery *job.Delivery
	done     func(job.Outcome)
	followed *followed // nil: there is no tracer

	// Guarded by the ledger's mutex; once the phase is told, nobody writes them again.
	number   uint64 // counts what the ledger accepted
	phase    phase
	carried  bool // a goroutine is at it, and gives its place in the lane back
	place    int  // in the ledger's heap
	deadline time.Duration
	patience time.Duration // the deadline that begin replaced
	began    time.Time
	abort    context.CancelFunc

	// The router's.
	lane    *lane
	started bool
	gone    bool // told before it was started

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

// weight is what the attempt counts against the bound of queued bytes.
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

// targetName names a target in error texts. An HTTP target is named by its host alone, because paths and
// queries of webhooks are often secrets.
func targetName(t job.Target) string {
	if t.Kind == job.TargetHTTP {
		return origin(t.URL)
	}
	return t.Address()
}

// origin returns the scheme and host of a URL, in lower case and without a user, without parsing it: the
// launching thread has no time for that, and an odd URL only gets an odd lane.
func origin(url string) string {
	scheme, rest, ok := strings.Cut(url, "://")
	if !ok {
		return url
	}
	if end := strings.IndexAny(rest, "/?#"); end >= 0 {
		url = url[:len(scheme)+len("://")+end]
	}
	if at := strings.LastIndexByte(url, '@'); at >= 0 {
		url = scheme + "://" + url[at+1:]
	}
	return strings.ToLower(url)
}
