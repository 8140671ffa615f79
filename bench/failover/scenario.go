package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// scenario is one way to break a cluster. It is a row of the table below and has no state: what a strike needs is in
// the blow that it returns.
type scenario struct {
	name string
	// about completes the line of --help.
	about      string
	topologies []string // empty: all
	namespaces []string // topologies in which it needs network namespaces
	short      []string // topologies in whose short form it is
	// the round then waits for a higher epoch, and a check demands one
	takeover bool // another node must take over
	divided  bool // it is for clusters with several shards, too; its blow names the victim, if one node is hit
	// strike prepares the fault, with the leader of the moment, and returns it.
	strike func(context.Context, *rig, *node) (blow, error)
}

// errLeftOut says that a scenario cannot be had on this machine.
var errLeftOut = errors.New("left out on this machine")

// blow is a fault that has not struck yet. What a scenario does before it returns one is preparation. The separation
// keeps the preparation, which may take seconds, out of the figures.
type blow struct {
	victim *node         // of the processes with several shards, the one that is hit; nil: none, or each
	land   func() error  // breaks it
	heal   func() error  // makes it whole, once the cluster serves again; nil: nothing is to be done
	lasts  time.Duration // at least, until it is healed

	// holds tells that what a process sent meanwhile may arrive when it is healed. The checks then excuse late
	// deliveries, so it must be false where nothing can be held.
	holds bool

	// halts tells that a NATS server stands still meanwhile. What lies in its sockets arrives when it is healed.
	halts bool
}

// fits reports whether a topology has the scenario. The guarded one has its own alone: what it shares with embedded is
// broken there.
func (s *scenario) fits(topology string) bool {
	return len(s.topologies) == 0 && topology != guarded || slices.Contains(s.topologies, topology)
}

// unfit returns what a scenario is not for, of the cluster that the options ask for; "" if it fits.
func (s *scenario) unfit(o *options) string {
	switch {
	case !s.fits(o.topology):
		return "the topology " + o.topology
	case o.shards > 1 && !s.divided:
		return "a cluster with several shards"
	case o.nodes > nodesMin && !s.isForThree(), o.nodes == nodesMin && s.name == bucketLeader:
		return fmt.Sprintf("%d nodes", o.nodes)
	default:
		return ""
	}
}

// isForThree reports whether the scenario is for three nodes that can lead, too.
func (s *scenario) isForThree() bool { return slices.Contains(threesome, s.name) }

// isShort reports whether the scenario is in the short plan. With several shards that has what makes other nodes take over,
// without namespaces, in each topology.
func (s *scenario) isShort(topology string, shards int) bool {
	if shards > 1 {
		return len(s.short) > 0 && s.takeover && !s.lan(topology)
	}
	return slices.Contains(s.short, topology)
}

// lan tells whether the scenario needs network namespaces.
func (s *scenario) lan(topology string) bool { return slices.Contains(s.namespaces, topology) }

// Lists of topologies.
var (
	inside = []string{embedded}
	beside = []string{outside}
	either = []string{embedded, outside}
	closed = []string{guarded}
)

// threesome names the scenarios that are for three nodes that can lead, too. The others count on two and a witness.
var threesome = []string{"sigstop-leader", "nats-leader", bucketLeader}

// bucketLeader is a scenario that is for three nodes alone.
const bucketLeader = "bucket-leader"

// scenarios are all ways to break a cluster, in the order of a round through all.
var scenarios = []scenario{
	{"kill9-leader", "SIGKILL for the leader; with NATS embedded another member leads the streams", nil, nil, inside, true, true, killLeader},
	{"kill9-leader-and-member", "SIGKILL for the leader and the NATS member that it uses; beside the nodes, the one that leads the streams", nil, beside, inside, true, true, killLeaderAndMember},
	{"sigstop-leader", "SIGSTOP for the leader for 20 s, then SIGCONT", nil, nil, inside, true, true, pauseLeader},
	{"sigterm-leader", "SIGTERM for the leader", nil, nil, beside, true, true, stopLeader},
	{"handover", "the leader is asked to hand over", nil, nil, inside, true, true, handOver},
	{"rolling-restart", "SIGTERM for each node, one after the other, each of which is started again", nil, nil, inside, true, true, restartAll},
	{"kill9-standby", "SIGKILL for the standby", nil, nil, nil, false, true, killStandby},
	{"nats-leader", "SIGKILL for the NATS server that leads the streams, not that in the leader's process", nil, nil, beside, false, true, killServer},
	{bucketLeader, "SIGKILL for the node that leads the bucket of the leases, and no shard; of three nodes", inside, nil, nil, false, true, killBucket},
	{"partition", "the leader is cut off from all other machines, without a word", nil, inside, inside, true, true, partition(cut{out: true, in: true})},
	{"partition-out", "what the leader sends does not arrive", nil, inside, nil, true, true, partition(cut{out: true})},
	{"partition-in", "what the leader is sent does not arrive", nil, inside, beside, true, true, partition(cut{in: true})},
	{"partition-reset", "connections of the leader to NATS are reset, and refused", beside, nil, nil, true, true, partition(cut{reset: true})},
	{"member-reset", "the leader's NATS server loses its peers by resets; its clients are well", nil, either, inside, true, true, resetMember},
	{"link-cut", "the link between the two nodes' NATS servers is cut; the third is reached by both", nil, either, inside, false, true, cutLink},
	{"delay-loss", "each link has a delay of 50 ms and loses 2 % of the packets", nil, either, inside, false, true, slowDown},
	{"server-silent", "both nodes use one NATS server, which is cut off from all machines without a word", beside, beside, beside, false, true, silenceServer},
	{"server-alone", "both nodes use one NATS server, which is cut off from its peers without a word", beside, beside, nil, false, true, isolateServer},
	{"junk", "a foreign program writes into the stream of the log", nil, nil, nil, false, false, writeJunk},
	{"stream-deleted", "a foreign program deletes the stream of the log", nil, nil, nil, false, false, deleteStream},
	{"bucket-deleted", "a foreign program deletes the bucket of the lease", nil, nil, nil, false, true, deleteBucket},
	{"mistaken-data", "the standby is started on the data of a server without a cluster, which holds a job", nil, nil, inside, false, false, mistakeData},
	{"forgotten-name", "a server without a cluster's name is started on the cluster's NATS and prefix", nil, nil, beside, false, false, forgetName},
	{"replaced-process", "the leader is frozen, replaced by a process of its name, and wakes up", beside, nil, nil, true, false, replaceFrozen},
	{"rotate-certificates", "all certificates are replaced three times, with their authorities, and the witness is restarted; takes five minutes", closed, nil, nil, false, false, rotateCertificates},
	{"hangups", "a hundred SIGHUPs, with changed files of rights and with bad ones", closed, nil, closed, false, false, hangUp},
	{diskFull, "the disk of the leader fills up; needs root on Linux, and is left out elsewhere", beside, nil, nil, true, false, fillDisk},
}

// listScenarios returns the table of scenarios for --help and for errors, with a star for those of the short plan, an S for
// those that are for several shards, and an N for those that are for three nodes, too.
func listScenarios() string {
	var b strings.Builder
	for _, s := range scenarios {
		star, divided, crowd := " ", " ", " "
		if len(s.short) > 0 {
			star = "*"
		}
		if s.divided {
			divided = "S"
		}
		if s.isForThree() {
			crowd = "N"
		}
		fmt.Fprintf(&b, "%s%s%s %-24s %s%s%s\n", star, divided, crowd, s.name, s.about,
			listed(", topology %s only", s.topologies), listed("; needs network namespaces (%s)", s.namespaces))
	}
	return b.String()
}

// listed returns topologies in a sentence; "" for none, which means all.
func listed(format string, topologies []string) string {
	if len(topologies) == 0 {
		return ""
	}
	return fmt.Sprintf(format, strings.Join(topologies, " and "))
}

// killLeader moves the streams away first, so that nothing but the leader is lost. The loss of the stream's leader
// would add an election of NATS to the figure.
func killLeader(ctx context.Context, r *rig, leader *node) (blow, error) {
	if r.opts.topology == embedded {
		if err := r.streams.lead(ctx, r.cluster.nodes[members-1].name); err != nil {
			return blow{}, err
		}
	}
	return killing(leader), nil
}

// killLeaderAndMember lets a machine die on which the leader and a member run. Embedded, the streams are led wherever
// the leader keeps them; outside, by that member.
func killLeaderAndMember(ctx context.Context, r *rig, leader *node) (blow, error) {
	if r.opts.topology == embedded {
		return killing(leader), nil // the product has moved the streams elsewhere, or it shows
	}
	leader, server, err := r.apart(ctx)
	if err == nil {
		err = r.streams.lead(ctx, server.name)
	}
	return blow{
		victim: leader,
		land:   func() error { server.proc.Kill(); leader.proc.Kill(); return nil },
		heal:   func() error { return errors.Join(server.restart(), leader.restart()) },
	}, err
}

// killStandby kills the node that does not lead. No takeover may follow. With several shards each node leads some, so the
// victim hands them over first; it is killed before the product spreads the leaderships again.
func killStandby(ctx context.Context, r *rig, _ *node) (blow, error) {
	standby, err := r.cluster.standby()
	if err == nil && r.opts.shards > 1 {
		err = r.relieve(ctx, standby)
	}
	if err != nil {
		return blow{}, err
	}
	return killing(standby), nil
}

// relieve has a node hand over until it leads no shard.
func (r *rig) relieve(ctx context.Context, n *node) error {
	return untilEvery(ctx, r.cluster.askEvery(), serveWait, func() error {
		all, err := r.cluster.offices()
		if err != nil {
			return err
		}
		led := ledBy(all, n)
		if len(led) == 0 {
			return nil
		}
		return errors.Join(r.handOverFrom(ctx, n), fmt.Errorf("%s led the shards %v", n.name, led))
	})
}

// killing returns a blow that kills a node and, to heal it, starts it again on its data.
func killing(n *node) blow {
	return blow{
		victim: n,
		land:   func() error { n.proc.Kill(); return nil },
		heal:   n.restart,
	}
}

// stopLeader ends the leader in order, which hands over before it ends.
func stopLeader(_ context.Context, _ *rig, leader *node) (blow, error) {
	return blow{victim: leader, land: leader.proc.Stop, heal: leader.restart}, nil
}

// pauseTime is how long a leader is paused: longer than the lease of 15 s. So the process wakes up as a leader whose
// lease is another's: it must notice before it launches.
const pauseTime = 20 * time.Second

// pauseLeader stops all threads of the leader, while the clocks go on. With NATS embedded its server stops as well.
func pauseLeader(_ context.Context, r *rig, leader *node) (blow, error) {
	return blow{
		victim: leader, land: leader.proc.Pause, heal: leader.proc.Resume, lasts: pauseTime,
		halts: r.opts.topology == embedded,
	}, nil
}

// The product refuses while commits wait for the stream, and while no standby is level, as one that was sent a
// checkpoint a moment ago. The round then asks again.
func handOver(ctx context.Context, r *rig, leader *node) (blow, error) {
	return blow{victim: leader, land: func() error { return r.handOverFrom(ctx, leader) }}, nil
}

// handOverFrom asks a node to hand over all that it leads.
func (r *rig) handOverFrom(ctx context.Context, n *node) error {
	args := []string{"handover", "--server", r.cluster.urls}
	if r.opts.shards > 1 {
		args = append(args, "--from", n.name)
	}
	err := r.command(ctx, args...)
	if err != nil && refusedForNow(err.Error()) {
		return fmt.Errorf("%w: %w", errNotYet, err)
	}
	return err
}

// refusedForNow reports whether the product refuses a hand-over for a reason that passes.
func refusedForNow(message string) bool {
	return strings.Contains(message, "the log has not acknowledged commits") ||
		strings.Contains(message, "there is no standby that is level with the leader")
}

// restartAll restarts the nodes in the order of their names, each when the one before is in step. The blow lasts until
// all of them are in step, because that is the procedure that operators follow.
func restartAll(ctx context.Context, r *rig, _ *node) (blow, error) {
	return blow{land: func() error {
		for _, n := range r.cluster.nodes {
			err := n.proc.Stop()
			if err == nil {
				err = n.start()
			}
			if err == nil {
				err = n.proc.AwaitReady()
			}
			if err == nil {
				err = r.awaitCalm(ctx)
			}
			if err != nil {
				return fmt.Errorf("restart %s: %w", n.name, err)
			}
		}
		return nil
	}}, nil
}
