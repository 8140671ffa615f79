package main

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/carillon-io/carillon/bench/failover/lan"
)

// Which NATS server a node uses, with the topology outside on a LAN.

// serverHosts returns where the NATS servers run. With the topology embedded they are the hosts of the nodes, whose
// processes have the servers in them.
func (c *cluster) serverHosts() []*lan.Host {
	var hosts []*lan.Host
	for _, s := range c.servers {
		hosts = append(hosts, s.site.host)
	}
	if len(hosts) == 0 {
		for _, n := range c.nodes {
			hosts = append(hosts, n.site.host)
		}
	}
	return hosts
}

// serverOf returns the server that has all connections of a node. It asks the servers' monitoring, because a node does
// not say which server it uses. Connections to several servers are an error: a scenario that breaks one server would
// then break half a node.
func (c *cluster) serverOf(n *node) (*member, error) {
	var used *member
	for _, s := range c.servers {
		count, err := s.connections(n)
		switch {
		case err != nil:
			return nil, err
		case count > 0 && used != nil:
			return nil, fmt.Errorf("%s is connected to %s and to %s", n.name, used.name, s.name)
		case count > 0:
			used = s
		}
	}
	if used == nil {
		return nil, fmt.Errorf("%s is connected to no NATS server", n.name)
	}
	return used, nil
}

// connections asks a server how many connections of a node it has. It distinguishes nodes by their addresses, which only
// a LAN gives them.
func (m *member) connections(n *node) (int, error) {
	reply, err := n.asking.Get("http://" + m.monitor + "/connz?limit=1000")
	if err != nil {
		return 0, err
	}
	defer reply.Body.Close()
	var all struct {
		Connections []struct {
			IP string `json:"ip"`
		} `json:"connections"`
	}
	if err := json.NewDecoder(reply.Body).Decode(&all); err != nil {
		return 0, fmt.Errorf("connections of %s: %w", m.name, err)
	}
	count := 0
	for _, c := range all.Connections {
		if c.IP == n.site.host.Addr().String() {
			count++
		}
	}
	return count, nil
}

// apart lets the two nodes use a NATS server each, and returns the leader and its server. The choice of the servers is
// random, by the seed.
func (r *rig) apart(ctx context.Context) (leader *node, used *member, err error) {
	i := r.rng.IntN(members)
	return r.place(ctx, r.cluster.servers[i], r.cluster.servers[(i+1)%members])
}

// together lets both nodes use one NATS server, lets another lead the streams, and returns the first.
func (r *rig) together(ctx context.Context) (*member, error) {
	i := r.rng.IntN(members)
	_, used, err := r.place(ctx, r.cluster.servers[i], r.cluster.servers[i])
	if err != nil {
		return nil, err
	}
	return used, r.streams.lead(ctx, r.cluster.servers[(i+1)%members].name)
}

// place resets connections of the nodes until each has all its connections with the server that is meant for it. It
// returns who leads then, and the server of that node. A reset makes the clients of the product change the server by
// themselves, as they would after a fault; afterwards the cluster must be calm, because the move is preparation and
// not the blow.
func (r *rig) place(ctx context.Context, servers ...*member) (leader *node, used *member, err error) {
	for i, n := range r.cluster.nodes {
		for _, s := range r.cluster.servers {
			if s != servers[i] {
				r.net.between(n.site.host, s.site.host, wiped, wiped)
			}
		}
	}
	err = until(ctx, healWait, func() error {
		for i, n := range r.cluster.nodes {
			if s, err := r.cluster.serverOf(n); err != nil {
				return err
			} else if s != servers[i] {
				return fmt.Errorf("%s still uses %s", n.name, s.name)
			}
		}
		return nil
	})
	// Also after an error, so that a preparation that failed leaves no broken link to the next round.
	r.net.everywhere(whole)
	if err == nil {
		err = r.awaitCalm(ctx)
	}
	if err != nil {
		return nil, nil, err
	}
	if leader, err = r.cluster.awaitLeader(ctx); err == nil {
		used, err = r.cluster.serverOf(leader)
	}
	return leader, used, err
}
