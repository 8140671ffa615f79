package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os/exec"
	"strconv"
	"time"

	"github.com/carillon-io/carillon/bench/failover/lan"
	"github.com/carillon-io/carillon/bench/kit"
)

// The kinds of network.
const (
	namespaces = "namespaces" // each process on a host of its own, see package lan
	proxies    = "proxy"      // all on loopback; a proxy before each NATS server of the topology outside
	anyNetwork = "auto"       // namespaces where they can be had, else proxies
)

// network is what joins the processes. The observer, which is this program with its clients and targets, has a host of
// its own there, whose links are never broken. The links may be changed at any time and by any goroutine; the hosts
// are all added before the first round.
type network struct {
	lan      *lan.LAN // nil: loopback
	missing  error    // why there is no LAN
	observer site
	machines []*lan.Host // all hosts but the observer
}

// Numbers of hosts on the LAN; a node or a server adds its own number, from 1.
const (
	nodeNumber     = 0
	serverNumber   = 10
	observerNumber = 100
)

// openNetwork makes a network of a kind. Where namespaces are not to be had, auto falls back to loopback and says so,
// because a run that silently left scenarios out would look like a success.
func openNetwork(kind string, seed uint64, progress io.Writer) (*network, error) {
	if kind == proxies {
		return &network{missing: fmt.Errorf("--network is %s", proxies)}, nil
	}
	l, err := lan.New(seed)
	if err != nil && kind == namespaces {
		return nil, err
	}
	if err != nil {
		fmt.Fprintf(progress, "%v: all processes share loopback, and scenarios that break a LAN are left out\n", err)
		return &network{missing: err}, nil
	}
	n := &network{lan: l}
	if n.observer.host, err = l.Add("observer", observerNumber); err != nil {
		n.close()
		return nil, err
	}
	return n, nil
}

// close takes the LAN down, if there is one; processes that still run lose their network.
func (n *network) close() {
	if n.lan != nil {
		n.lan.Close()
	}
}

// add makes a place for one process.
func (n *network) add(name string, number int) (site, error) {
	if n.lan == nil {
		return site{}, nil
	}
	h, err := n.lan.Add(name, byte(number))
	if err == nil {
		n.machines = append(n.machines, h)
	}
	return site{h}, err
}

// between says what happens to packets between two hosts, in each direction.
func (n *network) between(a, b *lan.Host, there, back lan.Link) {
	n.lan.Set(a.Addr(), b.Addr(), there)
	n.lan.Set(b.Addr(), a.Addr(), back)
}

// around says what happens to packets between a host and all others but the observer. The observer is left out, so
// that it sees what the broken host still sends to targets.
func (n *network) around(h *lan.Host, out, in lan.Link) {
	for _, other := range n.machines {
		if other != h {
			n.between(h, other, out, in)
		}
	}
}

// everywhere says what happens to all packets but those of the observer.
func (n *network) everywhere(l lan.Link) {
	for _, h := range n.machines {
		n.around(h, l, l)
	}
}

// site is where a process runs: a host of the LAN or, if that is nil, this machine's loopback. The rest of the program
// starts, listens and dials through it, and so does not know which of the two it is.
type site struct{ host *lan.Host }

// start starts a process there.
func (s site) start(cmd *exec.Cmd) error {
	if s.host == nil {
		return cmd.Start()
	}
	return s.host.Start(cmd)
}

// readyWait is how long a process may take to be ready. A cluster's first start waits for its NATS servers to
// elect, which takes some seconds.
const readyWait = 60 * time.Second

// spawn starts a process there, and does not wait for it to be ready. Its stderr is added to a file.
func (s site) spawn(name, log, program string, args []string) (*kit.Process, error) {
	return kit.Launch{Name: name, Program: program, Args: args, Log: log, ReadyMax: readyWait, Start: s.start}.Spawn()
}

// address returns an address to listen on: with the port on a host of the LAN, with a free one on loopback.
func (s site) address(port uint16) (string, error) {
	if s.host == nil {
		return kit.FreeAddress()
	}
	return net.JoinHostPort(s.host.Addr().String(), strconv.Itoa(int(port))), nil
}

// listen listens on a free port.
func (s site) listen() (net.Listener, error) {
	if s.host == nil {
		return net.Listen("tcp", "127.0.0.1:0")
	}
	return s.host.Listen(0)
}

// DialContext connects from there.
func (s site) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	if s.host == nil {
		return (&net.Dialer{}).DialContext(ctx, network, address)
	}
	return s.host.DialContext(ctx, network, address)
}

// dialWait bounds a connection to a NATS server.
const dialWait = time.Second

// Dial connects a client of NATS from there.
func (s site) Dial(network, address string) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(context.Background(), dialWait)
	defer cancel()
	return s.DialContext(ctx, network, address)
}

// askWait bounds what a process may take to answer; a paused one never does, and others wait behind it. It is longer
// than a healthy node needs under load.
const askWait = 500 * time.Millisecond

// http returns a client of HTTP that asks from there.
func (s site) http() *http.Client {
	return &http.Client{Timeout: askWait, Transport: &http.Transport{DialContext: s.DialContext}}
}

// The ports on a host of the LAN.
const (
	natsPort    = 4222
	routesPort  = 6222
	httpPort    = 7272
	monitorPort = 8222

	strangerPort    = 7373 // HTTP of a process beside those of the cluster
	strangerBusPort = 4333 // and its own NATS
)
