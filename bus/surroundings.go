package bus

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-io/carillon/replication"
)

// The times of the checks of a server's surroundings.
const (
	// NATS servers pass a subscription on with a delay, so two servers that start at the same time may miss each other
	// at the claim; this second search finds such a pair.
	aroundSoon  = time.Second      // after the start
	aroundEvery = 10 * time.Second // between two searches for other servers
	// Each refused question is a line in the log of NATS, and a permission seldom changes.
	aroundDenied = 10 * time.Minute // the same, where NATS does not permit the question
	// A check costs one question to all servers and one to the leader of the stream.
	aroundNATS = 30 * time.Second // between two checks of NATS
	// A server without a cluster must be able to start while JetStream is down, so the search gives up; the regular
	// checks repeat it.
	logSearchMax  = 5 * time.Second // bound of the search for the log at a start, while JetStream has no leader
	logAskTimeMax = time.Second
)

// Surroundings checks for problems around a server: other servers on its prefix, streams that capture requests, and,
// for a node of a cluster, weaknesses of NATS. Safe for concurrent use. Its checks only warn, with one exception: the
// claim and the search for a log in [Bus.OpenSurroundings] refuse a start, since two servers on one prefix fire the
// same jobs twice.
type Surroundings struct {
	captures *captures
	claim    *prefixClaim
	conn     *nats.Conn // a connection of its own: a refusal of its requests must not be reported as another's error
	js       jetstream.JetStream
	bus      *Bus
	opts     Options

	// guards the fields below, and is not kept during requests to NATS
	mu       sync.Mutex
	others   []string // warnings about other servers on the prefix
	weak     []string // for a cluster: what is weaker than promised
	replicas int      // of a stream of the cluster, by the newest facts; 0 before the first
	syncs    bool     // the NATS servers are known to sync what they acknowledge
}

// OpenSurroundings claims the prefix for this process, and makes the first checks; Watch makes the later ones. It
// returns an error that is [ErrPrefixServed] if the prefix is not free. Not for concurrent use with Connect. The claim
// answers other servers from then on, until the Bus is closed. The search for capturing streams comes last: its result
// is a warning, and the other checks may end the start.
func (b *Bus) OpenSurroundings(ctx context.Context) (*Surroundings, error) {
	conn, err := b.connectQuietly("carillon check", nats.NoEcho())
	if err != nil {
		return nil, err
	}
	js, err := jetstream.New(conn)
	if err != nil {
		return nil, fmt.Errorf("speak to JetStream: %w", err)
	}
	a := &Surroundings{captures: newCaptures(js, b.opts), conn: conn, js: js, bus: b, opts: b.opts}
	if a.claim, err = newPrefixClaim(conn, b.opts); err != nil {
		return nil, err
	}
	if err := a.claim.claim(ctx); err != nil {
		return nil, err
	}
	if err := a.refuseLog(ctx); err != nil {
		return nil, err
	}
	a.captures.Look()
	return a, nil
}

// Watch checks from time to time until ctx ends. It returns when both of its loops have ended, so that the caller can
// close the connection afterwards. It is called once.
func (a *Surroundings) Watch(ctx context.Context) {
	var all sync.WaitGroup
	all.Go(func() { a.captures.watch(ctx) })
	a.watch(ctx)
	all.Wait()
}

// Joined records the node as which this process serves from now on: others that ask learn its role and its cluster.
// Until then other servers see a node that is joining.
func (a *Surroundings) Joined(node *replication.Node) { a.claim.state.joined(node) }

// watch searches for other servers and checks NATS from time to time until ctx ends.
func (a *Surroundings) watch(ctx context.Context) {
	others, nats := time.NewTimer(aroundSoon), time.NewTicker(aroundNATS)
	defer others.Stop()
	defer nats.Stop()
	for {
		select {
		case <-others.C:
			a.findOthers(ctx)
			others.Reset(a.claim.every())
		case <-nats.C:
			a.CheckNATS(ctx)
		case <-ctx.Done():
			return
		}
	}
}

// findOthers searches for servers on the prefix that are neither this one nor in its cluster. An error leaves the
// warnings as they are: an unanswered question proves nothing.
func (a *Surroundings) findOthers(ctx context.Context) {
	servers, err := a.claim.others(ctx)
	if err != nil {
		a.opts.Logger.Debug("it is not known who else serves the prefix", slog.Any("error", err))
		return
	}
	var found []string
	for _, r := range servers {
		found = append(found, fmt.Sprintf("%s serves the prefix %q as well: requests go to the one or the other, and jobs that both have fire twice; stop one of the two, or give it another --prefix", r, a.opts.Prefix))
	}
	if len(found) == 0 && !a.opts.clustered() {
		if cluster, ok, _ := a.findLog(ctx); ok {
			found = append(found, fmt.Sprintf("the log of the cluster %s for the prefix %q is in NATS: when its nodes start, they are refused, or jobs fire twice; give this server another --prefix, or stop it and start it as one of them (--cluster-name %s)", cluster, a.opts.Prefix, cluster))
		}
	}
	a.note(&a.others, found)
}

// note stores the result of a check, and logs what is new. A warning that stays is logged once, however often it is
// found.
func (a *Surroundings) note(kept *[]string, found []string) {
	slices.Sort(found)
	a.mu.Lock()
	known := *kept
	*kept = found
	a.mu.Unlock()
	for _, w := range found {
		if !slices.Contains(known, w) {
			a.opts.Logger.Warn(w)
		}
	}
	for _, w := range known {
		if !slices.Contains(found, w) {
			a.opts.Logger.Info("no longer: " + w)
		}
	}
}

// Look searches for streams that capture requests, unless it did so within the last second.
func (a *Surroundings) Look() { a.captures.Look() }

// Warnings returns what is wrong around this process, each with its remedy. For a node of a cluster,
// [Surroundings.Weaknesses] has what is weak about its NATS.
func (a *Surroundings) Warnings() []string {
	a.mu.Lock()
	found := slices.Clone(a.others)
	if !a.opts.clustered() {
		found = append(found, a.weak...)
	}
	a.mu.Unlock()
	return append(found, a.captures.Warnings()...)
}

// refuseLog returns ErrPrefixServed if a server without a cluster would serve the prefix of a cluster whose log is in
// NATS, even if none of its nodes is up. If JetStream is silent or forbids the question, the start goes on. To refuse
// it would make the start of a lone server depend on a JetStream that its jobs need for streams only.
func (a *Surroundings) refuseLog(ctx context.Context) error {
	if a.opts.clustered() {
		return nil // the node itself reads to which cluster the log belongs
	}
	for end := time.Now().Add(logSearchMax); ; {
		cluster, found, err := a.findLog(ctx)
		switch {
		case found:
			return logIsThere(a.opts, cluster, "nats stream rm "+replication.StreamName(a.opts.Prefix, 0))
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.Is(a.conn.LastError(), nats.ErrPermissionViolation) || time.Now().After(end):
			a.opts.Logger.Debug("it is not known whether a cluster has its log in NATS", slog.Any("error", err))
			return nil // a later check may find it
		}
	}
}

// findLog searches for the log of a cluster on the prefix. Without JetStream there is none.
func (a *Surroundings) findLog(ctx context.Context) (cluster string, found bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, logAskTimeMax)
	defer cancel()
	return replication.FindLog(ctx, a.js, a.opts.Prefix, 0)
}

// logIsThere returns the error for a prefix that belongs to a cluster.
func logIsThere(o Options, cluster, remove string) error {
	return fmt.Errorf("%w: NATS has the log of the cluster %s for the prefix %q (stream %s), and its nodes would fire the same jobs; to be a node of it, start with --cluster-name %s; "+
		"to serve jobs of your own, with another --prefix; if that cluster is over for good, delete its log (%s)", ErrPrefixServed, cluster, o.Prefix, replication.StreamName(o.Prefix, 0), cluster, remove)
}
