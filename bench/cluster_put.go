package bench

import (
	"context"
	"fmt"
	"time"

	"github.com/carillon-io/carillon/client"
)

// putTurn is the number of registrations at one side before it is the other side's turn, so that other
// load on the machine affects both equally.
const putTurn = 100

// put compares the time of single registrations at the two sides.
func (n *contest) put(r *result) error {
	alone, cluster := putterAt("alone", n.single), putterAt("cluster", n.cluster.client)
	m := n.foreign()
	for len(cluster.took) < n.Puts && n.stand.ctx.Err() == nil {
		turn := min(putTurn, n.Puts-len(cluster.took))
		n.stand.say("put: %d of %d registrations at each", len(cluster.took), n.Puts)
		for _, p := range []*putter{alone, cluster} {
			for i := 0; i < turn && p.put(n.stand.ctx); i++ {
			}
			if p.err != nil {
				return p.err
			}
		}
	}
	m.stop()
	r.spread("alone", "alone", alone.took)
	r.spread("cluster", "cluster", cluster.took)
	r.add("goal_p50_ms", "goal for the cluster's p50, at most", millis(putGoal), "ms")
	ratio(r, "ratio_p50", "cluster to alone, p50", cluster.took.at(50_000), alone.took.at(50_000))
	ratio(r, "ratio_p99", "cluster to alone, p99", cluster.took.at(99_000), alone.took.at(99_000))
	m.tellForeign(r)
	return n.countPuts(r, len(alone.took), len(cluster.took))
}

// It is for loopback: on a network, a round trip between the servers comes on top. A registration waits for an
// fsync of the leader and for those of a majority of the NATS servers.
const putGoal = 3 * time.Millisecond

// putterAt returns a putter of far jobs for one side. It uses the client of the product, unlike plainly: one
// registration at a time leaves the cores idle enough.
func putterAt(name string, cl *client.Client) *putter {
	return &putter{name: name, register: func(ctx context.Context, j client.Job) error {
		_, _, err := cl.Put(ctx, j)
		return err
	}}
}

// countPuts checks that both sides and the standby have all acknowledged jobs.
func (n *contest) countPuts(r *result, alone, cluster int) error {
	if n.stand.ctx.Err() != nil {
		return nil // interrupted: the outcome of the last put is unknown
	}
	for _, one := range []struct {
		cl   *client.Client
		want int
	}{{n.single, alone}, {n.cluster.client, cluster}} {
		st, err := statusOf(n.stand, one.cl)
		if err != nil {
			return err
		}
		if st.Jobs != one.want {
			r.breaks("%d jobs were acknowledged, the server has %d", one.want, st.Jobs)
		}
	}
	// The standby may lag by some commits; it is compared when it has them.
	if err := n.cluster.level(n.stand, nil); err != nil {
		return fmt.Errorf("after the registrations: %w", err)
	}
	return n.cluster.sameJobs(n.stand, r)
}
