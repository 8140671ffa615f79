package replication

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/placement"
)

const (
	// driveAfter is how long a node leads shard 0 before it drives: until then it may not have heard every node that is there.
	driveAfter = 2 * beatFresh
	// steadyAfter is how long a node is heard without a break before it is given anything.
	steadyAfter = 2 * time.Second
	// joinTime is how long a node that is to receive a copy of a shard may not do it before another one may.
	joinTime = time.Minute
)

// driver places the shards while this process leads shard 0. Two drivers do no harm: each writes only what has not changed
// since it was seen. It belongs to one goroutine.
type driver struct {
	*Host
	since    time.Duration            // since when it drives; 0: it does not
	spread   time.Duration            // when leaderships were looked at last
	reviewed time.Duration            // when the keys of the bucket were compared with what is known of them
	joins    map[uint32]time.Duration // when the node that is to join a shard did so last
}

// driveAll drives until ctx ends.
func (h *Host) driveAll(ctx context.Context) {
	d := newDriver(h)
	for range ticks(ctx, h.opts.PlaceEvery) {
		d.tick(ctx)
	}
}

func newDriver(h *Host) *driver { return &driver{Host: h, joins: make(map[uint32]time.Duration)} }

// tick makes one step, if this process leads shard 0 and has for long enough.
func (d *driver) tick(ctx context.Context) {
	if !d.drives() {
		d.since = 0
		return
	}
	now := d.opts.Boot()
	if d.since == 0 {
		d.since = now
	}
	if now-d.since < driveAfter {
		return
	}
	if err := d.step(ctx, now); err != nil && ctx.Err() == nil && !errors.Is(err, errLost) {
		d.warn("the shards cannot be placed; trying again", err)
	}
}

// leads reports whether a member leads its shard, as far as it knows. A nil member leads nothing.
func (m *hosted) leads() bool { return m != nil && m.Role() == RoleLeader && !m.resigned() }

// drives reports whether this process leads shard 0 with a lease that is confirmed, and so places the others.
func (h *Host) drives() bool {
	m := h.member(everywhere)
	return m.leads() && m.Trust() > 0
}

// step looks at the places once, and writes what is to change now.
func (d *driver) step(ctx context.Context, now time.Duration) error {
	if now-d.reviewed >= reviewEvery {
		if err := d.review(ctx); err != nil {
			return err
		}
		d.reviewed = now
	}
	nodes := d.heard()
	if err := d.fill(ctx, nodes, now); err != nil {
		return err
	}
	for n := uint32(everywhere + 1); int(n) < d.opts.Shards; n++ {
		if err := d.finish(ctx, n, nodes, now); err != nil {
			return err
		}
	}
	o, err := d.beginAll(ctx, nodes, now)
	if err != nil {
		return err
	}
	if every := d.opts.SpreadEvery; every > 0 && now-d.spread >= every && !misses(nodes, now) {
		d.spread = now
		d.spreadOnce(placement.Spread(o.nodes, o.shards))
	}
	return nil
}

// fill writes a place for each shard that has no key, as after a loss of the bucket: the place that it had, or else the nodes
// that have it at present.
func (d *driver) fill(ctx context.Context, nodes []heardNode, now time.Duration) error {
	for n := uint32(everywhere + 1); int(n) < d.opts.Shards; n++ {
		at := d.places.of(n)
		if at.isKnown() {
			continue
		}
		v := at.value
		for i := range nodes {
			if _, has := nodes[i].of(n); has && nodes[i].fresh(now) && at.value.Change == 0 {
				v = v.with(nodes[i].beat.Node)
			}
		}
		if v.Shard = n; len(v.Copies) == 0 {
			d.warn(fmt.Sprintf("shard %d is on no node that is there; start the nodes that have it", n), errors.New("nothing is placed"))
			continue
		}
		if err := d.places.put(ctx, d.keys, at, v); err != nil {
			return err
		}
	}
	for _, name := range d.places.lostDrains() {
		if err := d.places.putDrain(ctx, d.keys, name, drainSeen{}, true); err != nil { // unless there is a key again
			return err
		}
	}
	return nil
}

// finish ends the move of a shard when the node that joins is level, or does not join.
func (d *driver) finish(ctx context.Context, shard uint32, nodes []heardNode, now time.Duration) error {
	at := d.places.of(shard)
	if at.value.Joins == "" {
		delete(d.joins, shard)
		return nil
	}
	_, leader, led := leaderOf(nodes, shard, now)
	level := led && d.levelIn(shard, at.value.Joins, leader, nodes, now)
	next := at.value
	switch {
	case level && d.staysSafe(shard, &at.value, leader, nodes, now):
		if next = next.with(at.value.Joins); at.value.Leaves != "" {
			next = next.without(at.value.Leaves)
		}
		next.Joins, next.Leaves = "", ""
		d.opts.Logger.Info("a copy of a shard has moved", slog.Uint64(job.LogShard, uint64(shard)), slog.String("to", at.value.Joins), slog.String("from", at.value.Leaves))
	case level, d.joins[shard] == 0, takes(at.value.Joins, shard, nodes, now):
		d.joins[shard] = now
		return nil
	case now-d.joins[shard] < joinTime:
		return nil
	default:
		next.Joins, next.Leaves = "", ""
		d.opts.Logger.Warn("a node that was to receive a copy of a shard does not", slog.Uint64(job.LogShard, uint64(shard)), slog.String("node", at.value.Joins))
	}
	return d.places.put(ctx, d.keys, at, next)
}

// staysSafe reports whether the copies that remain when a move ends are level: as many as wanted, or as there were.
func (d *driver) staysSafe(shard uint32, v *placeValue, leader shardBeat, nodes []heardNode, now time.Duration) bool {
	if v.Leaves == "" {
		return true
	}
	level := 0
	for _, name := range v.with(v.Joins).without(v.Leaves).Copies {
		if d.levelIn(shard, name, leader, nodes, now) {
			level++
		}
	}
	return level >= min(d.copies(), len(v.Copies))
}

// levelIn reports whether a node leads a shard, or could take it over.
func (d *driver) levelIn(shard uint32, node string, leader shardBeat, nodes []heardNode, now time.Duration) bool {
	i := slices.IndexFunc(nodes, func(n heardNode) bool { return n.beat.Node == node })
	if i < 0 || !nodes[i].fresh(now) {
		return false
	}
	says, has := nodes[i].of(shard)
	return has && (says == leader || isLevel(says, leader))
}

// takes reports whether a node is heard, and has the shard, whole or in part.
func takes(node string, shard uint32, nodes []heardNode, now time.Duration) bool {
	return slices.ContainsFunc(nodes, func(n heardNode) bool {
		_, has := n.of(shard)
		return has && n.beat.Node == node && n.fresh(now)
	})
}

// beginAll begins the moves that are to begin now, and returns the outlook after it. It plans before each of them, because a write
// takes time, and an operator may ask for another move, or let a node drain, meanwhile.
func (d *driver) beginAll(ctx context.Context, nodes []heardNode, now time.Duration) (o outlook, err error) {
	o = d.plan(nodes, now)
	for range d.opts.Shards {
		moves := placement.Next(o.nodes, o.placed(), d.copies())
		if len(moves) == 0 {
			break
		}
		if err := d.begin(ctx, moves[0], o.places[moves[0].Shard]); err != nil {
			return o, err
		}
		o = d.plan(nodes, now)
	}
	return o, nil
}

// begin writes a move that is to begin over the place by which it was planned.
func (d *driver) begin(ctx context.Context, m placement.Move, at placeSeen) error {
	next := at.value
	if next.Shard = m.Shard; m.To == "" {
		next = next.without(m.From)
	} else {
		next.Joins, next.Leaves = m.To, m.From
	}
	d.opts.Logger.Info("a copy of a shard moves", slog.Uint64(job.LogShard, uint64(m.Shard)), slog.String("to", m.To), slog.String("from", m.From))
	return d.places.put(ctx, d.keys, at, next)
}

// misses reports whether a node that was heard is silent, and has not said that it ends. It may be back in a moment, and those
// that are there have enough to do.
func misses(nodes []heardNode, now time.Duration) bool {
	return slices.ContainsFunc(nodes, func(n heardNode) bool { return !n.fresh(now) })
}

// spreadOnce asks for the first hand-over of those that spread the leaderships, so that the launches of one shard at a time
// pause.
func (d *driver) spreadOnce(list []placement.Handover) {
	if len(list) == 0 {
		return
	}
	o := list[0]
	d.opts.Logger.Info("a shard is handed over, so that each node leads its share", slog.Uint64(job.LogShard, uint64(o.Shard)), slog.String("from", o.From), slog.String("to", o.To))
	d.requestHandover(o.Shard, o.To)
}
