package dispatch

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/carillon-io/carillon/job"
)

// errIncomplete says that a sender ended without a result, as one does that calls runtime.Goexit.
var errIncomplete = errors.New("the sender ended without a result")

// sender delivers one attempt and returns when the target has answered. It gives up when the context
// ends.
type sender interface {
	send(ctx context.Context, d *job.Delivery, t traceHeaders) error
}

// step is what the router hears: an attempt was launched, or its outcome is told and it has let go.
type step struct {
	attempt  *attempt
	released bool
}

// router leads attempts through the lanes to their senders. One goroutine runs it, so the lanes need no
// lock and the launching thread never waits for them.
type router struct {
	steps   *queue[step]
	lanes   *lanes
	ledger  *ledger
	link    *link // nil without NATS
	senders [job.TargetHandler + 1]sender
	base    context.Context
	open    atomic.Int64 // lanes, for Stats
}

func (r *router) run(stop <-chan struct{}) {
	var steps []step
	for {
		select {
		case <-r.steps.wake:
		case <-stop:
			return
		}
		steps = r.steps.takeAll(steps)
		for _, s := range steps {
			r.take(s)
		}
		r.open.Store(int64(len(r.lanes.byKey)))
	}
}

func (r *router) take(s step) {
	if s.released {
		r.lanes.release(s.attempt)
	} else if !r.lanes.offer(s.attempt) {
		r.ledger.finish(s.attempt, fmt.Errorf("queue of target %s is full", targetName(s.attempt.delivery.Target)))
	}
	for kind := s.attempt.kind(); ; {
		a := r.lanes.next(kind)
		if a == nil {
			return
		}
		r.start(a)
	}
}

func (r *router) start(a *attempt) {
	switch kind := a.kind(); kind {
	case job.TargetRequest, job.TargetJetStream:
		r.ledger.connect(a)
		r.link.publish(a)
	default:
		go r.carry(a, r.senders[kind])
	}
}

// carry runs a sender for one attempt. Its place in the lane is free when the sender returns, which may
// be long after the deadline has told the outcome.
func (r *router) carry(a *attempt, s sender) {
	ctx, cancel := context.WithTimeout(r.base, a.timeout())
	defer cancel()
	if !r.ledger.begin(a, cancel) {
		return // told while it waited; afterTold has released it
	}
	err := errIncomplete
	defer func() {
		r.ledger.finish(a, err)
		r.steps.push(step{attempt: a, released: true})
	}()
	err = s.send(r.ledger.within(ctx, a), a.delivery, r.ledger.traceHeaders(a))
	if err != nil && ctx.Err() == context.DeadlineExceeded {
		err = errNoAnswer(a)
	}
}

// afterTold lets go of the lane, unless a goroutine will.
func (r *router) afterTold(a *attempt) {
	if !a.carried {
		r.steps.push(step{attempt: a, released: true})
	}
}
