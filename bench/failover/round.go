package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/carillon-io/carillon/bench/crash/history"
)

// Bounds of what a cluster may take its time for.
const (
	serveWait = 60 * time.Second // until it serves again after a fault
	healWait  = 60 * time.Second // until each node is in step again
)

// run strikes as often as it was asked to, and reads at the end what is left. An error means that the run
// could not go on; the history so far is still worth a check.
func (r *rig) run(ctx context.Context) error {
	for i := range r.opts.rounds {
		s := r.opts.plan[i%len(r.opts.plan)]
		fmt.Fprintf(r.progress, "round %d/%d: %s", i+1, r.opts.rounds, s.name)
		err := r.round(ctx, s)
		fmt.Fprintln(r.progress)
		if ctx.Err() != nil {
			break
		}
		if err != nil {
			return fmt.Errorf("round %d, %s: %w", i+1, s.name, err)
		}
	}
	if err := r.settle(context.WithoutCancel(ctx)); err != nil {
		return fmt.Errorf("final read: %w", err)
	}
	return nil
}

// round lets the cluster work, strikes, waits until it serves again, and heals it.
func (r *rig) round(ctx context.Context, s scenario) error {
	if err := rest(ctx, time.Second+time.Duration(r.rng.Int64N(int64(2*time.Second)))); err != nil {
		return err
	}
	if err := r.cluster.gone(); err != nil {
		return err
	}
	leader, before, err := r.cluster.leader()
	if err != nil {
		return err
	}
	b, err := s.strike(ctx, r, leader)
	if errors.Is(err, errLeftOut) {
		fmt.Fprint(r.progress, ": ", err)
		return nil
	}
	if err != nil {
		return fmt.Errorf("prepare: %w", err)
	}
	f := history.Fault{Kind: s.name, Takeover: s.takeover, From: history.Now()}
	err = r.suffer(ctx, &f, b, before.Epoch)
	r.rec.Break(f) // be it half suffered: the checks have to know of it
	return err
}

// suffer lands a blow and heals it, and notes when what was over.
func (r *rig) suffer(ctx context.Context, f *history.Fault, b blow, epoch uint64) error {
	f.Served, f.Healed = farOff, farOff
	if err := b.land(); err != nil {
		return fmt.Errorf("strike: %w", err)
	}
	landed := history.Now()
	if f.Takeover {
		if err := r.noteLeader(ctx, f.From, epoch); err != nil {
			return err
		}
		landed = history.Now()
	}
	if err := r.awaitPut(ctx, landed); err != nil {
		return err
	}
	f.Served = history.Now()
	fmt.Fprintf(r.progress, ": served again after %s", f.Served.Sub(f.From).Round(time.Millisecond))
	if b.holds {
		f.Released = history.Now()
	}
	if b.heal != nil {
		if err := b.heal(); err != nil {
			return fmt.Errorf("heal: %w", err)
		}
	}
	if err := r.awaitHealed(ctx); err != nil {
		return err
	}
	f.Healed = history.Now()
	fmt.Fprintf(r.progress, ", whole after %s", f.Healed.Sub(f.From).Round(time.Millisecond))
	return nil
}

// farOff is when a fault is over that never was.
const farOff = history.Instant(1 << 62)

// awaitPut waits until a put is acknowledged that was sent after an instant.
func (r *rig) awaitPut(ctx context.Context, after history.Instant) error {
	return until(ctx, serveWait, func() error {
		if r.rec.FirstPut(after) == 0 {
			return errors.New("no put is acknowledged")
		}
		return nil
	})
}

// awaitHealed waits until each node, and each copy of each stream, is in step.
func (r *rig) awaitHealed(ctx context.Context) error {
	return until(ctx, healWait, func() error {
		if err := r.cluster.gone(); err != nil {
			return err
		}
		for _, n := range r.cluster.nodes {
			if !n.isInStep() {
				return fmt.Errorf("%s is not in step; the end of its log:\n%s", n.name, tail(n.log))
			}
		}
		return r.streams.inStep(ctx)
	})
}
