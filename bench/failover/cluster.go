package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// cluster is all processes under test.
type cluster struct {
	// net is the one of the rig, which takes it down.
	net    *network
	shards int // at least 1
	leads  int // how many of its processes can lead
	turn   int // the number of the round, which decides between nodes that lead as many shards
	// always the same, over all lives of their processes
	nodes     []*node   // the witness last, if there is one
	servers   []*member // NATS servers of the topology outside
	addresses []string  // of all NATS servers
	urls      string    // the same, for clients
	access    *access   // of the topology guarded; else nil
}

// startCluster starts all processes, and returns when each is ready. All processes are started before any is awaited,
// because the first start of a cluster needs all of its NATS servers.
func startCluster(net *network, opts options, dir string) (*cluster, error) {
	c := &cluster{net: net, shards: opts.shards, leads: opts.nodes}
	build := c.buildEmbedded
	switch opts.topology {
	case outside:
		build = c.buildOutside
	case guarded:
		build = c.buildGuarded
	}
	if err := build(opts.binary, dir); err != nil {
		return c, err
	}
	c.divide()
	for _, n := range c.nodes {
		if err := n.start(); err != nil {
			return c, err
		}
	}
	for _, n := range c.nodes {
		if err := n.proc.AwaitReady(); err != nil {
			return c, err
		}
	}
	return c, nil
}

// divide gives the nodes the number of shards, if there are several.
func (c *cluster) divide() {
	for _, n := range c.engines() {
		if c.shards > 1 {
			n.args = append(n.args, "--shards", strconv.Itoa(c.shards))
		}
	}
}

// buildEmbedded lays out three nodes, whose NATS servers form the cluster. With two that can lead the third is a witness.
func (c *cluster) buildEmbedded(binary, dir string) error {
	sites, clients, routes, err := c.layOut("n", nodeNumber)
	if err != nil {
		return err
	}
	for i, s := range sites {
		n, err := newNode(c.net, s, i, binary, dir)
		if err != nil {
			return err
		}
		// All addresses are known before the first start, because each server needs those of the others.
		n.args = append(n.args, "--listen", clients[i], "--cluster-listen", routes[i], "--routes", strings.Join(routes, ","))
		if n.witness = i >= c.leads; n.witness {
			n.args = append(n.args, "--witness")
		}
		c.nodes = append(c.nodes, n)
	}
	c.spareLog()
	return nil
}

// buildGuarded lays out what buildEmbedded does, with rights, and TLS on all listeners.
func (c *cluster) buildGuarded(binary, dir string) error {
	err := c.buildEmbedded(binary, dir)
	if err != nil {
		return err
	}
	names := make([]string, len(c.nodes))
	for i, n := range c.nodes {
		names[i] = n.name
	}
	if c.access, err = openAccess(binary, dir, names, hostsOf(c.addresses)); err != nil {
		return err
	}
	for _, n := range c.nodes {
		n.guarded, n.args = true, append(n.args, c.access.flags(n.name)...)
		c.access.guard(n.asking, c.net.observer)
	}
	return nil
}

// buildOutside starts the NATS servers, and lays out the nodes, which are their clients: through proxies where the network
// is loopback.
func (c *cluster) buildOutside(binary, dir string) error {
	if err := c.startServers(dir); err != nil {
		return err
	}
	for i := range c.leads {
		s, err := c.net.add(fmt.Sprintf("n%d", i+1), nodeNumber+i+1)
		if err != nil {
			return err
		}
		n, err := newNode(c.net, s, i, binary, dir)
		if err != nil {
			return err
		}
		urls := c.urls
		if s.host == nil {
			if urls, err = n.connectThrough(c.addresses); err != nil {
				return err
			}
		}
		n.args = append(n.args, "--nats", urls, "--nats-syncs") // they do, and an ordinary account does not see it
		c.nodes = append(c.nodes, n)
	}
	c.spareLog()
	return nil
}

// sites makes a place for each NATS server.
func (c *cluster) sites(prefix string, number int) ([]site, error) {
	sites := make([]site, members)
	for i := range sites {
		var err error
		if sites[i], err = c.net.add(fmt.Sprintf("%s%d", prefix, i+1), number+i+1); err != nil {
			return nil, err
		}
	}
	return sites, nil
}

// serve notes where the NATS servers take clients.
func (c *cluster) serve(addresses []string) {
	c.addresses, c.urls = addresses, urlsOf(addresses)
}

// spareLog lets the first node keep its whole log, so that there is one to compare with. The second makes a checkpoint
// every few seconds and cuts its log. The second node's short log makes a standby that lags receive a checkpoint,
// which is a path worth breaking, too.
func (c *cluster) spareLog() {
	c.nodes[0].args = append(c.nodes[0].args, "--checkpoint-every", "1h")
	c.nodes[1].args = append(c.nodes[1].args, "--checkpoint-every", "3s")
	if c.leads > nodesMin { // of a shard that the first does not hold
		c.nodes[2].args = append(c.nodes[2].args, "--checkpoint-every", "1h")
	}
}

// connectThrough puts a proxy before each server, and returns how the node reaches them.
func (n *node) connectThrough(servers []string) (urls string, err error) {
	var addresses []string
	// One proxy for each server, so that a node can lose one of them and keep the others.
	for _, address := range servers {
		p, err := startProxy(address)
		if err != nil {
			return "", err
		}
		n.proxies = append(n.proxies, p)
		addresses = append(addresses, p.listener.Addr().String())
	}
	return urlsOf(addresses), nil
}

// engines are the nodes that can lead.
func (c *cluster) engines() []*node {
	return slices.DeleteFunc(slices.Clone(c.nodes), func(n *node) bool { return n.witness })
}

// leader returns the node that leads: of several shards the one that leads the most, and of nodes that lead as many
// each in its turn.
func (c *cluster) leader() (*node, error) {
	all, err := c.offices()
	if err != nil {
		return nil, err
	}
	engines := c.engines()
	leader := all[0].node
	for i := range engines {
		n := engines[(i+c.turn)%len(engines)]
		if i == 0 && c.shards > 1 || len(ledBy(all, n)) > len(ledBy(all, leader)) {
			leader = n
		}
	}
	return leader, nil
}

// awaitLeader waits until each shard has a leader, and returns the node that leads.
func (c *cluster) awaitLeader(ctx context.Context) (leader *node, err error) {
	err = until(ctx, serveWait, func() error {
		leader, err = c.leader()
		return err
	})
	return leader, err
}

// standby returns the node that could lead and does not. It fails if no node leads, because then both could lead.
func (c *cluster) standby() (*node, error) {
	leader, err := c.leader()
	if err != nil {
		return nil, err
	}
	for _, n := range c.engines() {
		if n != leader {
			return n, nil
		}
	}
	return nil, errors.New("there is no standby")
}

// gone returns a process that has ended and is not expected to, as an error. Scenarios that end a process start it
// again before a round is over, so that none is expected to be gone here.
func (c *cluster) gone() error {
	for _, n := range c.nodes {
		if n.proc.IsGone() {
			return n.proc.Ended()
		}
	}
	for _, s := range c.servers {
		if s.proc.IsGone() {
			return s.proc.Ended()
		}
	}
	return nil
}

// stop ends everything in good order, the leader after its standby. In this order the leader need not hand over to a
// standby that is about to end as well.
func (c *cluster) stop() error {
	var errs []error
	// Without a leader there is no order to keep, and all are ended as they come.
	if standby, err := c.standby(); err == nil {
		errs = append(errs, standby.proc.Stop())
	}
	for _, n := range c.nodes {
		if !n.proc.IsGone() {
			errs = append(errs, n.proc.Stop())
		}
	}
	for _, s := range c.servers {
		// The NATS servers come last, because a node that stops still has something to say to them.
		errs = append(errs, s.proc.Stop())
	}
	return errors.Join(errs...)
}

// close takes everything down that still stands.
func (c *cluster) close() {
	for _, n := range c.nodes {
		n.close()
	}
	for _, s := range c.servers {
		if s.proc != nil && !s.proc.IsGone() {
			s.proc.Kill()
		}
	}
}

// layOut makes the places of NATS servers, and has the clients use them. It returns the places, and the addresses of each for
// clients and for routes.
func (c *cluster) layOut(name string, number int) (sites []site, clients, routes []string, err error) {
	if sites, err = c.sites(name, number); err != nil {
		return nil, nil, nil, err
	}
	if clients, routes, err = twoLists(sites); err != nil {
		return nil, nil, nil, err
	}
	c.serve(clients)
	return sites, clients, routes, nil
}

// twoLists returns addresses for the clients and for the routes of NATS servers.
func twoLists(sites []site) (clients, routes []string, err error) {
	for _, s := range sites {
		client, err := s.address(natsPort)
		if err != nil {
			return nil, nil, err
		}
		route, err := s.address(routesPort)
		if err != nil {
			return nil, nil, err
		}
		clients, routes = append(clients, client), append(routes, route)
	}
	return clients, routes, nil
}

// urlsOf returns addresses as a list of NATS URLs, as the flags of the product and the client take it.
func urlsOf(addresses []string) string {
	urls := make([]string, len(addresses))
	for i, address := range addresses {
		urls[i] = "nats://" + address
	}
	return strings.Join(urls, ",")
}
