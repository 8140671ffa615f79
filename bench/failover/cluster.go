package main

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// cluster is all processes under test.
type cluster struct {
	nodes   []*node   // the witness last, if there is one
	servers []*member // NATS servers of the topology outside
	urls    string    // of all NATS servers, for everybody but the nodes
}

// member is one NATS server of the topology outside, over all its lives.
type member struct {
	name string
	log  string
	args []string
	proc *process
}

// members is how many NATS servers there are: with fewer than three, nothing is served when one dies.
const members = 3

// start begins a life of the server, and does not wait for it to be ready.
func (m *member) start() error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	p, err := spawn(m.name, m.log, self, m.args)
	if err == nil {
		m.proc = p
	}
	return err
}

// startCluster starts all processes, and returns when each is ready.
func startCluster(topology, binary, dir string) (*cluster, error) {
	c := &cluster{}
	build := c.buildEmbedded
	if topology == outside {
		build = c.buildOutside
	}
	if err := build(binary, dir); err != nil {
		return c, err
	}
	for _, n := range c.nodes {
		if err := n.start(); err != nil {
			return c, err
		}
	}
	for _, n := range c.nodes {
		if err := n.proc.awaitReady(); err != nil {
			return c, err
		}
	}
	return c, nil
}

// buildEmbedded lays out two nodes and a witness, whose NATS servers form the cluster.
func (c *cluster) buildEmbedded(binary, dir string) error {
	clients, routes, err := twoLists()
	if err != nil {
		return err
	}
	c.urls = urlsOf(clients)
	for i := range members {
		n, err := newNode(fmt.Sprintf("n%d", i+1), binary, dir)
		if err != nil {
			return err
		}
		n.args = append(n.args, "--listen", clients[i], "--cluster-listen", routes[i], "--routes", strings.Join(routes, ","))
		if n.witness = i == members-1; n.witness {
			n.args = append(n.args, "--witness")
		}
		c.nodes = append(c.nodes, n)
	}
	c.spareLog()
	return nil
}

// buildOutside starts the NATS servers, and lays out two nodes that reach them through proxies.
func (c *cluster) buildOutside(binary, dir string) error {
	addresses, err := c.startServers(dir)
	if err != nil {
		return err
	}
	for i := range 2 {
		n, err := newNode(fmt.Sprintf("n%d", i+1), binary, dir)
		if err == nil {
			err = n.connectThrough(addresses)
		}
		if err != nil {
			return err
		}
		c.nodes = append(c.nodes, n)
	}
	c.spareLog()
	return nil
}

// startServers starts the NATS servers, and returns their addresses for clients.
func (c *cluster) startServers(dir string) ([]string, error) {
	clients, routes, err := twoLists()
	if err != nil {
		return nil, err
	}
	c.urls = urlsOf(clients)
	for i := range members {
		name := fmt.Sprintf("nats%d", i+1)
		m := &member{name: name, log: filepath.Join(dir, name+".log"), args: []string{
			natsCommand, "--name", name, "--dir", filepath.Join(dir, name), "--listen", clients[i], "--cluster", routes[i],
			"--routes", strings.Join(routes, ","),
		}}
		if err := m.start(); err != nil {
			return nil, err
		}
		c.servers = append(c.servers, m)
	}
	for _, s := range c.servers {
		if err := s.proc.awaitReady(); err != nil {
			return nil, err
		}
	}
	return clients, nil
}

// spareLog lets the first node keep its whole log, so that there is one to compare with. The second makes
// a checkpoint every few seconds and cuts its log.
func (c *cluster) spareLog() {
	c.nodes[0].args = append(c.nodes[0].args, "--checkpoint-every", "1h")
	c.nodes[1].args = append(c.nodes[1].args, "--checkpoint-every", "3s")
}

func (n *node) connectThrough(servers []string) error {
	var urls []string
	for _, address := range servers {
		p, err := startProxy(address)
		if err != nil {
			return err
		}
		n.proxies = append(n.proxies, p)
		urls = append(urls, p.url())
	}
	n.args = append(n.args, "--nats", strings.Join(urls, ","))
	return nil
}

// engines are the nodes that can lead.
func (c *cluster) engines() []*node {
	return slices.DeleteFunc(slices.Clone(c.nodes), func(n *node) bool { return n.witness })
}

// leader returns the node that leads, under the highest epoch if there should be two.
func (c *cluster) leader() (*node, nodeStatus, error) {
	var leader *node
	var best nodeStatus
	for _, n := range c.engines() {
		if s, err := n.status(); err == nil && s.Role == "leader" && s.Epoch >= best.Epoch {
			leader, best = n, s
		}
	}
	if leader == nil {
		return nil, best, errors.New("no node says that it leads")
	}
	return leader, best, nil
}

// standby returns the node that could lead and does not.
func (c *cluster) standby() (*node, error) {
	leader, _, err := c.leader()
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

// gone returns a process that has ended and is not expected to, as an error.
func (c *cluster) gone() error {
	for _, n := range c.nodes {
		if n.proc.isGone() {
			return n.proc.ended()
		}
	}
	for _, s := range c.servers {
		if s.proc.isGone() {
			return s.proc.ended()
		}
	}
	return nil
}

// stop ends everything in good order, the leader after its standby.
func (c *cluster) stop() error {
	var errs []error
	if standby, err := c.standby(); err == nil {
		errs = append(errs, standby.proc.stop())
	}
	for _, n := range c.nodes {
		if !n.proc.isGone() {
			errs = append(errs, n.proc.stop())
		}
	}
	for _, s := range c.servers {
		errs = append(errs, s.proc.stop())
	}
	return errors.Join(errs...)
}

// close takes everything down that still stands.
func (c *cluster) close() {
	for _, n := range c.nodes {
		n.close()
	}
	for _, s := range c.servers {
		if s.proc != nil && !s.proc.isGone() {
			s.proc.kill()
		}
	}
}

// twoLists returns free addresses for the clients and for the routes of all NATS servers.
func twoLists() (clients, routes []string, err error) {
	for i := range 2 * members {
		address, err := freePort()
		if err != nil {
			return nil, nil, err
		}
		if i%2 == 0 {
			clients = append(clients, address)
		} else {
			routes = append(routes, address)
		}
	}
	return clients, routes, nil
}

func urlsOf(addresses []string) string {
	urls := make([]string, len(addresses))
	for i, address := range addresses {
		urls[i] = "nats://" + address
	}
	return strings.Join(urls, ",")
}

// freePort returns an address that nobody listens on just now.
func freePort() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer l.Close()
	return l.Addr().String(), nil
}
