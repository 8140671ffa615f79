package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/carillon-io/carillon/bench/history"
)

// Bounds of what a cluster may take its time for. They are far above what the product needs, because they only end a
// run that is stuck; bounds judge the speed.
const (
	serveWait = 60 * time.Second // until it serves again once a fault is healed
	healWait  = 60 * time.Second // until each node is in step again
)

// run strikes as often as it was asked to, and reads at the end what is left. An error means that the run
// could not go on; the history so far is still worth a check.
func (r *rig) run(ctx context.Context) error {
	for i := range r.opts.rounds {
		s := r.opts.plan[i%len(r.opts.plan)]
		fmt.Fprintf(r.progress, "round %d/%d: %s", i+1, r.opts.rounds, s.name)
		r.cluster.turn = i
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

// round lets the cluster work, strikes, waits until it serves again, and heals it. The pause before the strike is
// random, so that faults meet the cluster at different points of its timers.
func (r *rig) round(ctx context.Context, s scenario) error {
	if err := rest(ctx, time.Second+time.Duration(r.rng.Int64N(int64(2*time.Second)))); err != nil {
		return err
	}
	// A process that died by itself since the last round is a fault of the product, and not of this scenario.
	if err := r.cluster.gone(); err != nil {
		return err
	}
	b, err := r.prepare(ctx, s)
	if errors.Is(err, errLeftOut) {
		fmt.Fprint(r.progress, ": ", err)
		return nil
	}
	if err != nil {
		return fmt.Errorf("prepare: %w", err)
	}
	// After the preparation, which may itself have changed the leader.
	before, err := r.cluster.awaitOffices(ctx)
	if err != nil {
		return err
	}
	f := history.Fault{Kind: s.name, Takeover: s.takeover, From: history.Now()}
	if r.opts.shards > 1 && b.victim != nil {
		f.Shards = ledBy(before, b.victim)
		fmt.Fprintf(r.progress, " of %s with the shards %v", b.victim.name, f.Shards)
	}
	err = r.suffer(ctx, &f, b, before)
	r.rec.Break(f) // be it half suffered: the checks have to know of it
	r.glimpse(ctx)
	return err
}

// prepare does what a scenario needs before it can strike. An error that is errLeftOut skips the round. A preparation
// may reset connections or move the leader of a stream, either of which can lose a reply and so repeat an attempt. So
// it counts as a fault, without figures of its own.
func (r *rig) prepare(ctx context.Context, s scenario) (blow, error) {
	f := history.Fault{Kind: "preparation of " + s.name, Prepares: true, From: history.Now()}
	b, err := r.arrange(ctx, s)
	f.Healed = history.Now()
	f.Served = f.Healed
	r.rec.Break(f)
	return b, err
}

// arrange brings the cluster into the state in which a scenario can strike.
func (r *rig) arrange(ctx context.Context, s scenario) (blow, error) {
	if s.lan(r.opts.topology) && r.net.lan == nil {
		return blow{}, fmt.Errorf("%w: %w", errLeftOut, r.net.missing)
	}
	leader, err := r.cluster.awaitLeader(ctx)
	if err != nil {
		return blow{}, err
	}
	return s.strike(ctx, r, leader)
}

// suffer lands a blow and heals it, and notes when what was over. Healed and Served begin as never, so that a round
// that ends early counts to the end of the history.
func (r *rig) suffer(ctx context.Context, f *history.Fault, b blow, before []office) error {
	// Whatever ends the round early leaves an open end, which the checks treat as a fault that goes on.
	f.Served, f.Mended, f.Healed = farOff, farOff, farOff
	f.Halted = b.halts
	if err := r.land(ctx, f, b); err != nil {
		return fmt.Errorf("strike: %w", err)
	}
	if err := r.awaitServed(ctx, f, before); err != nil {
		return err
	}
	if err := rest(ctx, b.lasts-history.Now().Sub(f.From)); err != nil {
		return err
	}
	f.Mended = history.Now()
	spent := r.begunSince(before)
	// From here on what was held arrives, late.
	if b.holds {
		f.Released = f.Mended
	}
	if b.heal != nil {
		if err := b.heal(); err != nil {
			return fmt.Errorf("heal: %w", err)
		}
	}
	if err := r.awaitHealed(ctx, f); err != nil {
		return err
	}
	after, err := r.cluster.awaitOffices(ctx)
	if f.Epochs = spent; r.opts.shards == 1 {
		f.Epochs = begunBetween(before, after)
	}
	fmt.Fprintf(r.progress, ", whole after %s", f.Healed.Sub(f.From).Round(time.Millisecond))
	return err
}

// begunSince returns how many leaderships of several shards began until the fault is mended; 0 if a shard has no leader.
// What begins later does not count, because the product then spreads the leaderships.
func (r *rig) begunSince(before []office) int {
	if r.opts.shards == 1 {
		return 0
	}
	now, err := r.cluster.offices()
	if err != nil {
		return 0
	}
	return begunBetween(before, now)
}

// errNotYet says that the product refuses for the moment what a scenario asks of it.
var errNotYet = errors.New("not yet")

// land lands a blow, and does so again while the product says that it is to be asked later. The fault counts from the
// try that succeeded, since the others changed nothing.
func (r *rig) land(ctx context.Context, f *history.Fault, b blow) error {
	began, failed := f.From, error(nil)
	err := until(ctx, serveWait, func() error {
		f.From = history.Now()
		if failed = b.land(); errors.Is(failed, errNotYet) {
			return failed
		}
		return nil
	})
	if waited := f.From.Sub(began); waited > time.Second {
		fmt.Fprintf(r.progress, ": taken after %s", waited.Round(time.Millisecond))
	}
	return cmp.Or(err, failed)
}

// awaitServed waits until another node leads, if the fault is to make one, and a put is acknowledged. When its
// patience is over, that is no error: the figures tell. A successor is awaited before the put, so that a put which the
// old leader still acknowledged does not count.
func (r *rig) awaitServed(ctx context.Context, f *history.Fault, before []office) error {
	landed := history.Now()
	var err error
	if f.Takeover {
		shards := f.Shards
		if len(shards) == 0 {
			shards = r.allShards()
		}
		err = r.noteLeaders(ctx, f.From, before, shards, r.opts.patience)
		landed = history.Now()
	}
	if err == nil {
		err = r.awaitPut(ctx, landed, r.opts.patience)
	}
	switch {
	case ctx.Err() != nil:
		return err
	case err != nil:
		f.Takeover = false // none is to be found in the logs
		fmt.Fprintf(r.progress, ": NOT SERVED %v", err)
		return nil
	}
	f.Served = history.Now()
	fmt.Fprintf(r.progress, ": served again after %s", f.Served.Sub(f.From).Round(time.Millisecond))
	return nil
}

// farOff is when a fault is over that never was. It is far below the largest instant, so that a duration can be
// added to it.
const farOff = history.Instant(1 << 62)

// awaitPut waits until a put is acknowledged in each shard that was sent after an instant.
func (r *rig) awaitPut(ctx context.Context, after history.Instant, most time.Duration) error {
	return until(ctx, most, func() error {
		for shard := range r.opts.shards {
			counts := func(job string) bool { return history.ShardOf(job, r.opts.shards) == shard }
			if r.rec.FirstPut(after, counts) == 0 {
				return errors.New("no put is acknowledged" + inShard(shard, r.opts.shards))
			}
		}
		return nil
	})
}

// inShard names a shard at the end of a sentence, if there are several.
func inShard(shard, shards int) string {
	if shards == 1 {
		return ""
	}
	return fmt.Sprintf(" in shard %d", shard)
}

// awaitHealed waits until the cluster serves, and each node, and each copy of each stream, is in step.
func (r *rig) awaitHealed(ctx context.Context, f *history.Fault) error {
	if f.Served == farOff {
		if err := r.awaitPut(ctx, history.Now(), serveWait); err != nil {
			return err
		}
		f.Served = history.Now()
	}
	err := r.awaitCalm(ctx)
	if err == nil {
		f.Healed = history.Now()
	}
	return err
}
