package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/carillon-io/carillon/bench/history"
	"github.com/carillon-io/carillon/bench/kit"
)

// calmTime is how long each node must be ready, under one leadership, to call the cluster whole: what a healed network
// brings to light comes within it. A round that began earlier would count the effects of the fault before it as its
// own. A second is also longer than the interval of the beats by which the nodes know each other's state.
const calmTime = time.Second

// catchUpWait is how long a copy of a stream may lag. Now and then a NATS server rejects for ever what it is
// sent to catch up, "Expected first catchup entry to be a snapshot and peerstate". If the stream is the
// product's, the server is restarted then; if it is the sink's, two copies are enough.
const catchUpWait = 10 * time.Second

// awaitCalm waits until commits go on, nothing has changed for a while, and each copy of each stream is in step. The
// order is from the outside inwards: clients first, then the nodes, then the copies in JetStream.
func (r *rig) awaitCalm(ctx context.Context) error {
	if err := r.awaitPut(ctx, history.Now(), serveWait); err != nil {
		return err
	}
	if err := r.awaitLeaders(ctx); err != nil {
		return err
	}
	err := until(ctx, catchUpWait, func() error { return r.streams.inStep(ctx) })
	lag := (*laggingError)(nil)
	switch {
	case err == nil:
		return nil
	case errors.As(err, &lag) && lag.stream == history.SinkStream:
		fmt.Fprintf(r.progress, ", going on although %v", err)
		return nil
	case errors.As(err, &lag):
		fmt.Fprintf(r.progress, ", RESTARTED %s: %v", lag.server, err)
		if err := r.restart(lag.server); err != nil {
			return err
		}
	}
	if err := until(ctx, healWait, func() error { return r.streams.inStep(ctx) }); err != nil {
		return err
	}
	return r.awaitLeaders(ctx)
}

// awaitLeaders waits until each node is ready, and one leadership of each shard has gone on for a while. Any error and
// any new epoch begins the time anew.
func (r *rig) awaitLeaders(ctx context.Context) error {
	since, before := history.Now(), []office(nil)
	return untilEvery(ctx, r.cluster.askEvery(), healWait, func() error {
		err := r.ready()
		all, noLeader := r.cluster.offices()
		if err = errors.Join(err, noLeader, r.cluster.spread(all)); err != nil || !sameEpochs(all, before) {
			// The time begins anew, so that calmTime is without any interruption.
			since, before = history.Now(), all
		}
		if err == nil && history.Now().Sub(since) < calmTime {
			err = fmt.Errorf("each node is ready since %s only", since)
		}
		return err
	})
}

// restart stops and starts the process of a NATS server. It is for a server that NATS itself cannot repair, and the
// progress has it in capitals, since it may hide a fault of the product.
func (r *rig) restart(server string) error {
	if i := slices.IndexFunc(r.cluster.servers, func(m *member) bool { return m.name == server }); i >= 0 {
		return errors.Join(r.cluster.servers[i].proc.Stop(), r.cluster.servers[i].restart())
	}
	i := slices.IndexFunc(r.cluster.nodes, func(n *node) bool { return n.name == server })
	if i < 0 {
		return fmt.Errorf("no process is the NATS server %s", server)
	}
	n := r.cluster.nodes[i]
	return errors.Join(n.proc.Stop(), n.restart())
}

// ready demands that each process lives, and each node leads or is in step. It asks every process, so that one that
// has died in silence ends the run here and not rounds later.
func (r *rig) ready() error {
	if err := r.cluster.gone(); err != nil {
		return err
	}
	for _, n := range r.cluster.nodes {
		if !n.isInStep() {
			return fmt.Errorf("%s is not in step; the end of its log:\n%s", n.name, kit.Tail(n.log))
		}
	}
	return nil
}
