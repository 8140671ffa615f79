package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/carillon-io/carillon/bench/kit"
)

// node is one Carillon of the cluster, over all its lives. Its methods are called by the goroutine of the rounds only.
type node struct {
	name string
	// site stays the same over all lives, and so do the addresses on it.
	site site
	// asks from the observer's host, whose links are never broken
	asking  *http.Client
	binary  string
	dir     string // data directory
	log     string // path of its log
	http    string // host:port
	args    []string
	lone    bool // a server without a cluster, which has no node name
	guarded bool // it has TLS and rights
	// witness is set for the third process of the topology embedded.
	witness bool
	proxies []*proxy // between it and each NATS server; none with the topology embedded
	// of the present life; nil before the first
	proc *kit.Process
}

// nodeStatus is what a node says of itself. They are the members of the public status that the rounds need.
type nodeStatus struct {
	Role  string `json:"role"`
	Epoch uint64 `json:"epoch"`
	LSN   uint64 `json:"lsn"`
}

// start begins a life of the node, and does not wait for it to be ready.
func (n *node) start() error {
	args := slices.Concat([]string{"serve", "--data", n.dir, "--http-listen", n.http}, n.args)
	if !n.lone {
		args = append(args, "--node", n.name)
	}
	if n.site.host != nil && !n.guarded {
		args = append(args, "--insecure") // its addresses are those of a LAN, which nothing else is connected to
	}
	p, err := n.site.spawn(n.name, n.log, n.binary, args)
	if err == nil {
		n.proc = p
	}
	return err
}

// restart begins the next life of a node that is gone.
func (n *node) restart() error {
	if !n.proc.IsGone() {
		return fmt.Errorf("%s is to be restarted, and still runs", n.name)
	}
	return n.start()
}

// shardDir returns the directory of a shard.
func (n *node) shardDir(shard int) string { return filepath.Join(n.dir, "shards", strconv.Itoa(shard)) }

// holds reports whether the node has a copy of a shard. Of three nodes, two have each shard but the first.
func (n *node) holds(shard int) bool {
	_, err := os.Stat(filepath.Join(n.shardDir(shard), "wal"))
	return err == nil
}

// url returns the URL of a path of the node.
func (n *node) url(path string) string {
	if n.guarded {
		return "https://" + n.http + path
	}
	return "http://" + n.http + path
}

// status asks the node itself, not by way of NATS. A node that is paused or cut off from its HTTP makes it wait for
// askWait.
func (n *node) status() (s nodeStatus, err error) {
	reply, err := n.asking.Get(n.url("/api/v1/status"))
	if err != nil {
		return s, err
	}
	defer reply.Body.Close()
	if reply.StatusCode != http.StatusOK {
		return s, fmt.Errorf("status of %s: %s", n.name, reply.Status)
	}
	return s, json.NewDecoder(reply.Body).Decode(&s)
}

// isInStep tells whether the node leads, or is a standby that has all there is. For a witness only its life counts,
// because it has no data that could lag.
func (n *node) isInStep() bool {
	if n.witness {
		return !n.proc.IsGone()
	}
	reply, err := n.asking.Get(n.url("/readyz"))
	if err != nil {
		return false
	}
	defer reply.Body.Close()
	return reply.StatusCode == http.StatusOK
}

// breakProxies breaks the network between the node and all of NATS where it is loopback.
func (n *node) breakProxies(mode cut) {
	for _, p := range n.proxies {
		p.set(mode)
	}
}

// close kills the present process, if there is one, and ends the proxies of the node.
func (n *node) close() {
	if n.proc != nil && !n.proc.IsGone() {
		n.proc.Kill()
	}
	for _, p := range n.proxies {
		p.close()
	}
}

// newNode returns the i-th node, which has not been started.
func newNode(net *network, s site, i int, binary, dir string) (*node, error) {
	address, err := s.address(httpPort)
	name := fmt.Sprintf("n%d", i+1)
	return &node{
		name: name, site: s, asking: net.observer.http(), binary: binary,
		dir: filepath.Join(dir, name), log: filepath.Join(dir, name+".log"), http: address,
		args: []string{"--cluster-name", "failover", "--allow-private-targets"},
	}, err
}
