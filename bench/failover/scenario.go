package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// scenario is one way to break a cluster.
type scenario struct {
	name       string
	about      string
	topologies []string // empty: all
	takeover   bool     // another node must take over
	strike     func(context.Context, *rig, *node) (blow, error)
}

// errLeftOut says that a scenario cannot be had on this machine.
var errLeftOut = errors.New("left out on this machine")

// blow is a fault that has not struck yet. What a scenario does before it returns one is preparation.
type blow struct {
	land func() error // breaks it
	heal func() error // makes it whole, once the cluster serves again; nil: nothing is to be done

	// holds tells that what the node sent meanwhile arrives when it is healed.
	holds bool
}

func (s *scenario) fits(topology string) bool {
	return len(s.topologies) == 0 || slices.Contains(s.topologies, topology)
}

// scenarios are all ways to break a cluster, in the order of a round through all.
var scenarios = []scenario{
	{"kill9-leader", "SIGKILL for the leader; with NATS embedded another member leads the streams", nil, true, killLeader},
	{"kill9-leader-and-member", "SIGKILL for the leader with the NATS member that leads the streams", []string{embedded}, true, killLeaderAndMember},
	{"sigstop-leader", "SIGSTOP for the leader, longer than its lease, then SIGCONT", nil, true, pauseLeader},
	{"sigterm-leader", "SIGTERM for the leader", nil, true, stopLeader},
	{"handover", "the leader is asked to hand over", nil, true, handOver},
	{"kill9-standby", "SIGKILL for the standby", nil, false, killStandby},
	{"nats-leader", "SIGKILL for the NATS server that leads the stream of the log", []string{outside}, false, killServer},
	{"partition", "nothing passes between the leader and NATS", []string{outside}, true, partition(cut{out: true, in: true})},
	{"partition-out", "what the leader sends to NATS does not arrive", []string{outside}, true, partition(cut{out: true})},
	{"partition-in", "what NATS sends to the leader does not arrive", []string{outside}, true, partition(cut{in: true})},
	{"partition-reset", "connections of the leader to NATS are reset", []string{outside}, true, partition(cut{reset: true})},
	{"junk", "somebody writes into the stream of the log", nil, false, writeJunk},
	{"stream-deleted", "somebody deletes the stream of the log", nil, false, deleteStream},
	{diskFull, "the disk of the leader fills up; needs root on Linux, and is left out elsewhere", []string{outside}, true, fillDisk},
}

func listScenarios() string {
	var b strings.Builder
	for _, s := range scenarios {
		where := ""
		if len(s.topologies) > 0 {
			where = ", topology " + strings.Join(s.topologies, " and ") + " only"
		}
		fmt.Fprintf(&b, "  %-24s %s%s\n", s.name, s.about, where)
	}
	return b.String()
}

// killLeader moves the streams away first, so that nothing but the leader is lost.
func killLeader(ctx context.Context, r *rig, leader *node) (blow, error) {
	if r.opts.topology == embedded {
		if err := r.streams.lead(ctx, r.cluster.nodes[members-1].name); err != nil {
			return blow{}, err
		}
	}
	return killing(leader), nil
}

func killLeaderAndMember(ctx context.Context, r *rig, leader *node) (blow, error) {
	return killing(leader), r.streams.lead(ctx, leader.name)
}

func killStandby(_ context.Context, r *rig, _ *node) (blow, error) {
	standby, err := r.cluster.standby()
	if err != nil {
		return blow{}, err
	}
	return killing(standby), nil
}

func killing(n *node) blow {
	return blow{
		land: func() error { n.proc.kill(); return nil },
		heal: n.restart,
	}
}

func stopLeader(_ context.Context, _ *rig, leader *node) (blow, error) {
	return blow{land: leader.proc.stop, heal: leader.restart}, nil
}

// pauseTime is how long a leader is paused: longer than the lease of 15 s.
const pauseTime = 22 * time.Second

func pauseLeader(ctx context.Context, _ *rig, leader *node) (blow, error) {
	var began time.Time
	return blow{
		land: func() error { began = time.Now(); return leader.proc.pause() },
		heal: func() error {
			if err := rest(ctx, pauseTime-time.Since(began)); err != nil {
				return err
			}
			return leader.proc.goOn()
		},
	}, nil
}

func handOver(ctx context.Context, r *rig, _ *node) (blow, error) {
	return blow{land: func() error { return r.command(ctx, "handover", "--server", r.cluster.urls) }}, nil
}

// killServer kills the NATS server that leads the stream of the log.
func killServer(ctx context.Context, r *rig, _ *node) (blow, error) {
	info, err := r.streams.log(ctx)
	if err != nil {
		return blow{}, err
	}
	at := -1
	if info.Cluster != nil {
		at = slices.IndexFunc(r.cluster.servers, func(m *member) bool { return m.name == info.Cluster.Leader })
	}
	if at < 0 {
		return blow{}, fmt.Errorf("the stream of the log is led by none of the NATS servers: %+v", info.Cluster)
	}
	s := r.cluster.servers[at]
	return blow{
		land: func() error { s.proc.kill(); return nil },
		heal: func() error {
			if err := s.start(); err != nil {
				return err
			}
			return s.proc.awaitReady()
		},
	}, nil
}

func partition(mode cut) func(context.Context, *rig, *node) (blow, error) {
	return func(_ context.Context, _ *rig, leader *node) (blow, error) {
		return blow{
			land: func() error { leader.cut(mode); return nil },
			heal: func() error { leader.cut(cut{}); return nil }, holds: mode.out,
		}, nil
	}
}

func writeJunk(ctx context.Context, r *rig, _ *node) (blow, error) {
	return blow{land: func() error { return r.streams.junk(ctx) }}, nil
}

func deleteStream(ctx context.Context, r *rig, _ *node) (blow, error) {
	return blow{land: func() error { return r.streams.delete(ctx) }}, nil
}
