package main

import (
	"context"
	"time"

	"github.com/carillon-io/carillon/bench/failover/lan"
)

// What breaks a LAN.
var (
	whole = lan.Link{}
	dead  = lan.Link{Cut: true}
	wiped = lan.Link{Reset: true}
	slow  = lan.Link{Delay: 50 * time.Millisecond, Loss: 0.02}
)

// cutTime is how long a network stays broken at least: longer than what a leader has committed ahead, so that
// all that it launches late is seen.
const cutTime = 12 * time.Second

// breaking returns a blow that breaks the LAN, and makes all of it whole again. Healing makes every link whole, also
// those that the blow did not touch.
func (r *rig) breaking(land func(), holds bool) blow {
	return blow{
		land:  func() error { land(); return nil },
		heal:  func() error { r.net.everywhere(whole); return nil },
		lasts: cutTime, holds: holds,
	}
}

// partition breaks the network between the leader and all others but the observer: the links of its host,
// or the proxies before the NATS servers.
func partition(mode cut) func(context.Context, *rig, *node) (blow, error) {
	return func(_ context.Context, r *rig, leader *node) (blow, error) {
		if r.net.lan == nil {
			return blow{
				victim: leader,
				land:   func() error { leader.breakProxies(mode); return nil },
				heal:   func() error { leader.breakProxies(cut{}); return nil }, holds: mode.out, lasts: cutTime,
			}, nil
		}
		out, in := lan.Link{Cut: mode.out, Reset: mode.reset}, lan.Link{Cut: mode.in, Reset: mode.reset}
		b := r.breaking(func() { r.net.around(leader.site.host, out, in) }, !mode.reset)
		b.victim = leader
		return b, nil
	}
}

// resetMember ends the routes of the leader's NATS server, which keeps its clients. Only NATS sees this fault; the
// node must find out by the silence of JetStream through a server that is well otherwise.
func resetMember(ctx context.Context, r *rig, leader *node) (blow, error) {
	host := leader.site.host
	if r.opts.topology == outside {
		hit, server, err := r.apart(ctx)
		if err != nil {
			return blow{}, err
		}
		leader, host = hit, server.site.host
	}
	b := r.breaking(func() { r.aroundServer(host, wiped) }, false)
	b.victim = leader
	return b, nil
}

// aroundServer says what happens to packets between a NATS server and its peers.
func (r *rig) aroundServer(server *lan.Host, l lan.Link) {
	for _, peer := range r.cluster.serverHosts() {
		if peer != server {
			r.net.between(server, peer, l, l)
		}
	}
}

// cutLink cuts the link between the NATS servers of the two nodes. There is still a majority everywhere, so no
// takeover is due.
func cutLink(ctx context.Context, r *rig, _ *node) (blow, error) {
	a, b := r.cluster.nodes[0].site.host, r.cluster.nodes[1].site.host
	if r.opts.topology == outside {
		if _, _, err := r.apart(ctx); err != nil {
			return blow{}, err
		}
		servers := make([]*member, 2)
		for i := range servers {
			var err error
			if servers[i], err = r.cluster.serverOf(r.cluster.nodes[i]); err != nil {
				return blow{}, err
			}
		}
		a, b = servers[0].site.host, servers[1].site.host
	}
	return r.breaking(func() { r.net.between(a, b, dead, dead) }, true), nil
}

// slowTime is how long the network is slow. A retransmission of TCP takes a fifth of a second at least, so the time
// has room for many.
const slowTime = 8 * time.Second

// slowDown delays each packet and loses some, in both directions of every link but the observer's.
func slowDown(_ context.Context, r *rig, _ *node) (blow, error) {
	b := r.breaking(func() { r.net.everywhere(slow) }, true)
	b.lasts = slowTime
	return b, nil
}

// silenceServer cuts a server off that both nodes use. Another leads the streams.
func silenceServer(ctx context.Context, r *rig, _ *node) (blow, error) {
	server, err := r.together(ctx)
	return r.breaking(func() { r.net.around(server.site.host, dead, dead) }, true), err
}

// isolateServer cuts a server off from its peers that both nodes use. Another leads the streams.
func isolateServer(ctx context.Context, r *rig, _ *node) (blow, error) {
	server, err := r.together(ctx)
	return r.breaking(func() { r.aroundServer(server.site.host, dead) }, true), err
}
