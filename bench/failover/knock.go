package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
)

// knocker makes new connections to each node, over NATS and HTTP, again and again, and keeps what was refused.
type knocker struct {
	access *access
	from   site
	stop   context.CancelFunc
	all    sync.WaitGroup

	mu     sync.Mutex // guards what follows
	done   map[string]int
	failed []error // the first ones
	fails  int
}

// knockPause is between two connections to a node: the handshakes must not use up the machine.
const knockPause = 20 * time.Millisecond

// failedMax is how many failures are told.
const failedMax = 5

// knock begins to connect to some nodes.
func (r *rig) knock(ctx context.Context) *knocker {
	k := &knocker{access: r.cluster.access, from: r.net.observer, done: make(map[string]int)}
	ctx, k.stop = context.WithCancel(ctx)
	for _, n := range r.cluster.nodes {
		k.done[n.name] = 0 // before the first is asked, so that await waits for each
	}
	for i, n := range r.cluster.nodes {
		address := r.cluster.addresses[i]
		k.all.Go(func() {
			for rest(ctx, knockPause) == nil {
				k.note(n.name, k.overHTTP(n))
				k.note(n.name, k.overNATS(address))
			}
		})
	}
	return k
}

// end ends it, and returns what was refused.
func (k *knocker) end() error {
	k.stop()
	k.all.Wait()
	if k.fails == 0 {
		return nil
	}
	return fmt.Errorf("%d of %v new connections were refused: %w", k.fails, k.done, errors.Join(k.failed...))
}

// note takes in how a connection went.
func (k *knocker) note(node string, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.done[node]++
	if err == nil {
		return
	}
	if k.fails++; len(k.failed) < failedMax {
		k.failed = append(k.failed, fmt.Errorf("%s: %w", node, err))
	}
}

// await waits until each node has taken some more connections.
func (k *knocker) await(ctx context.Context, more int) error {
	was := k.counts()
	return until(ctx, healWait, func() error {
		for node, n := range k.counts() {
			if n < was[node]+more {
				return fmt.Errorf("%s has taken %d new connections of %d", node, n-was[node], more)
			}
		}
		return nil
	})
}

// counts returns how many connections each node was asked for.
func (k *knocker) counts() map[string]int {
	k.mu.Lock()
	defer k.mu.Unlock()
	counts := make(map[string]int)
	for node, n := range k.done {
		counts[node] = n
	}
	return counts
}

// knockWait bounds a connection. It is long, because only a refusal counts, and not a machine that is busy.
const knockWait = 20 * time.Second

// overHTTP asks a node over a connection of its own.
func (k *knocker) overHTTP(n *node) error {
	t := &http.Transport{DialContext: k.from.DialContext, TLSClientConfig: k.access.config(), DisableKeepAlives: true}
	reply, err := (&http.Client{Timeout: knockWait, Transport: rootTransport{t}}).Get(n.url("/healthz"))
	if err != nil {
		return err
	}
	defer reply.Body.Close()
	_, err = io.Copy(io.Discard, reply.Body)
	if reply.StatusCode != http.StatusOK {
		err = errors.Join(err, errors.New(reply.Status))
	}
	return err
}

// overNATS connects to a NATS server, and hears of it.
func (k *knocker) overNATS(address string) error {
	conn, err := k.as(loadToken, address)
	if err != nil {
		return err
	}
	defer conn.Close()
	return conn.FlushTimeout(knockWait)
}

// as connects to one NATS server in the name of a token, and does not connect again.
func (k *knocker) as(token, address string) (*nats.Conn, error) {
	return nats.Connect(urlsOf([]string{address}), nats.SetCustomDialer(k.from), nats.Secure(k.access.config()), nats.Token(token),
		nats.Timeout(knockWait), nats.NoReconnect(), nats.IgnoreDiscoveredServers())
}
