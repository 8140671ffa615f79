package scheduler

import (
	"context"
	"time"

	"github.com/carillon-io/carillon/apierr"
	"github.com/carillon-io/carillon/scheduler/core"
)

// Drain stops launching and waits until the attempts that are with their targets have answered and are recorded, or
// until ctx ends. It is Hold followed by Settle. What has left is then recorded, so that the next start or leader need
// not launch it again.
func (e *Engine) Drain(ctx context.Context) {
	e.Hold()
	e.Settle(ctx)
}

// Confirm makes a commit that changes nothing. When it returns without error, the log has this commit and all commits
// before it. Confirm stops nothing. A leader that was replaced without its knowledge gets an error, because the log
// refuses its commit.
func (e *Engine) Confirm(ctx context.Context) error {
	return e.submit(ctx, &core.Barrier{Writes: true})
}

// Hold stops launching until Continue, and does not wait. Requests are still served and ticks are still decided. Attempts that wait,
// because nobody has received them, do not leave either, and Settle does not wait for them.
// Launches that are held leave after Continue, or after the next start, on this node or another.
func (e *Engine) Hold() { e.pad.Hold() }

// Settle waits until the attempts that are with their targets have answered and their outcomes are recorded, until
// ctx ends, or until Serve has returned. Unless Hold was called before, it may wait for ever.
func (e *Engine) Settle(ctx context.Context) {
	e.awaitAnswers(ctx, func(all, _ int) bool { return all <= 0 })
	_ = e.record(ctx)
}

// SettleSent waits until NATS has answered the attempts that are messages to it, until ctx ends, or until Serve has returned. It
// answers within a round trip, so a caller can wait for that who cannot wait for targets. It returns how many attempts have no
// answer: the next leader launches them again.
func (e *Engine) SettleSent(ctx context.Context) (unanswered int) {
	e.awaitAnswers(ctx, func(_, sent int) bool { return sent <= 0 })
	unanswered, _ = e.pad.Flying()
	return unanswered
}

// awaitAnswers waits until enough attempts that are with the sender have ended, until ctx ends, or until Serve has returned.
func (e *Engine) awaitAnswers(ctx context.Context, isEnough func(all, sent int) bool) {
	for !isEnough(e.pad.Flying()) {
		e.hurry()
		select {
		case <-e.pad.WhenLanded():
		case <-time.After(hurryEvery):
		case <-ctx.Done():
			return
		case <-e.stopped:
			return
		}
	}
}

// hurry asks the sender not to wait for company with what it can confirm.
func (e *Engine) hurry() {
	if sender, waits := e.opts.Sender.(interface{ Hurry() }); waits {
		sender.Hurry()
	}
}

// hurryEvery is the time between two such calls: an attempt that had only begun at the last one is confirmed soon after.
const hurryEvery = 5 * time.Millisecond

// record waits until the outcomes that are known at the call are in the log. A barrier makes the loop step, and a step
// handles the oldest outcomes first, so each round brings the goal nearer.
func (e *Engine) record(ctx context.Context) error {
	for goal := e.outcomes.count(); e.outcomes.isOpen(goal); {
		if err := e.submit(ctx, &core.Barrier{}); err != nil {
			return err
		}
	}
	return nil
}

// Rest waits until all known outcomes are in the log and no commit is in progress, and then blocks further commits
// until Continue. Proposals wait meanwhile. If it returns an error, the engine continues as before. Only one goroutine
// at a time may call Rest and Continue. The log and the store do not change while the engine rests, and launches that
// are due still leave.
func (e *Engine) Rest(ctx context.Context) error {
	if err := e.record(ctx); err != nil {
		return err
	}
	over := make(chan struct{})
	select {
	case e.rests <- over:
		e.rested = over
		return nil
	case <-e.stopped:
		return apierr.Errorf(apierr.Unavailable, "", "the engine has stopped")
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Continue ends the effect of Hold and Rest. It may be called without either, and then does nothing.
func (e *Engine) Continue() {
	if e.rested != nil {
		close(e.rested)
		e.rested = nil
	}
	e.pad.Resume()
}
