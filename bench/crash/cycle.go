package main

import (
	"context"
	"fmt"
	"time"

	"github.com/carillon-io/carillon/bench/history"
)

// run kills the server --cycles times, and then reads its final state. An error means that the run had to end early;
// the history so far can still be checked. The time between two deaths is random, so that they meet the server in its
// start, at work, and during a checkpoint.
func (r *rig) run(ctx context.Context) error {
	for cycle := 1; cycle <= r.opts.cycles && ctx.Err() == nil; cycle++ {
		r.wait(ctx, time.Second+r.random(2*time.Second))
		how, err := r.die()
		if err == nil {
			err = r.rise()
		}
		if err == nil {
			err = r.readLSN()
		}
		if err != nil {
			return fmt.Errorf("cycle %d: %w", cycle, err)
		}
		if err := r.look(ctx, cycle, how); err != nil {
			return fmt.Errorf("cycle %d: %w", cycle, err)
		}
	}
	if err := r.settle(context.WithoutCancel(ctx)); err != nil {
		return fmt.Errorf("final read: %w", err)
	}
	return nil
}

// wait waits for d, or until the server or ctx ends.
func (r *rig) wait(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-r.proc.Exited(): // die reports it
	case <-time.After(d):
	}
}

// random returns a random duration below most. The seed determines it.
func (r *rig) random(most time.Duration) time.Duration {
	return time.Duration(r.rng.Int64N(int64(most)))
}

// The share, in percent of all deaths, of the special cases.
const (
	// They are low enough that most deaths are plain SIGKILLs at work, and high enough that thirty cycles have some
	// of each.
	politePercent  = 12 // SIGTERM instead of SIGKILL
	relapsePercent = 25 // killed again while it recovers
	absencePercent = 10 // down for so long that ticks are missed
	verifyPercent  = 20 // the log is verified while the server is down
)

// chance returns true with the given probability, in percent. It draws from the generator of the deaths, so the order
// of the calls is a part of what a seed repeats.
func (r *rig) chance(percent int) bool { return r.rng.IntN(100) < percent }

// die ends the server now, and returns how it was ended. The LSN is read just before, so that what was durable then
// can be demanded after the start.
func (r *rig) die() (how string, err error) {
	if r.proc.IsGone() {
		return "", r.proc.Ended()
	}
	if err := r.readLSN(); err != nil {
		return "", err
	}
	how = "SIGKILL"
	if r.chance(politePercent) {
		how = "SIGTERM"
		d, err := r.proc.stop()
		r.rec.Die(d)
		if err != nil {
			r.rec.Surprise(err.Error())
		}
	} else {
		r.rec.Die(r.proc.kill())
	}
	// Several relapses in a row are possible, each with the same odds.
	for r.chance(relapsePercent) {
		how += ", SIGKILL in recovery"
		if err := r.relapse(); err != nil {
			return how, err
		}
	}
	// The absence is longer than the shortest interval of a cron job, so ticks are missed in it.
	if r.chance(absencePercent) {
		how += ", absence"
		time.Sleep(1200*time.Millisecond + r.random(1500*time.Millisecond))
	}
	if r.chance(verifyPercent) {
		if complaint := r.launcher.verifyLog(); complaint != "" {
			r.rec.Surprise(complaint)
		}
	}
	return how, nil
}

// relapse starts the server and kills it shortly before or after it is ready. A recovery must itself survive a crash,
// at any of its steps.
func (r *rig) relapse() error {
	p, err := r.spawn()
	if err != nil {
		return err
	}
	select {
	case <-p.Exited():
		return fmt.Errorf("in recovery: %w", p.Ended())
	case <-time.After(r.random(300 * time.Millisecond)):
	}
	r.rec.Die(p.kill())
	return nil
}

// look runs after each cycle. It checks that the history so far breaks no promise, and prints the progress. A
// violation ends the run at once, since the data directory then shows the fault best.
func (r *rig) look(ctx context.Context, cycle int, how string) error {
	err := r.persist("stream", func() error { return r.sink.ReadStream(ctx) })
	if err != nil && ctx.Err() == nil {
		return err
	}
	h := r.history()
	start := h.Starts[len(h.Starts)-1]
	fmt.Fprintf(r.progress, "cycle %d/%d: %s; ready in %s; %d requests, %d deliveries so far\n", cycle, r.opts.cycles, how,
		start.Ready.Sub(start.Began).Round(time.Millisecond), len(h.Ops), len(h.Deliveries))
	for _, v := range history.ViolationsOf(history.CheckSoFar(h)) {
		return fmt.Errorf("impossible already: %s", v)
	}
	return nil
}

// history returns what was recorded so far. With embedded NATS the sink loses its connection at each death, so a
// message without a stream may find no subscriber.
func (r *rig) history() *history.History {
	h := r.rec.Snapshot()
	if r.opts.embedded {
		h.Lossy = map[string]bool{"nats": true}
	}
	return h
}
