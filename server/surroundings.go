package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-io/carillon/replication"
)

// The times of the checks of a server's surroundings.
const (
	aroundSoon    = time.Second      // after the start
	aroundEvery   = 10 * time.Second // between two searches for other servers
	aroundDenied  = 10 * time.Minute // the same, where NATS does not permit the question
	aroundNATS    = 30 * time.Second // between two checks of NATS
	logSearchMax  = 5 * time.Second  // bound of the search for the log at a start, while JetStream has no leader
	logAskTimeMax = time.Second
)

// surroundings checks for problems around a server: other servers on its prefix, streams that capture requests,
// and, for a node of a cluster, weaknesses of NATS. Safe for concurrent use.
type surroundings struct {
	captures *captures
	claim    *prefixClaim
	conn     *nats.Conn // a connection of its own: a refusal of its requests must not be reported as another's error
	js       jetstream.JetStream
	bus      *bus
	opts     Options
	stop     context.CancelFunc

	mu     sync.Mutex
	others []string // warnings about other servers on the prefix
	weak   []string // for a cluster: what is weaker than promised
	syncs  bool     // the NATS servers are known to sync what they acknowledge
}

// openSurroundings claims the prefix, makes the first checks, and starts the regular ones.
func (s *Server) openSurroundings(ctx context.Context) error {
	conn, err := s.bus.connectQuietly("carillon check", nats.NoEcho())
	if err != nil {
		return err
	}
	js, err := jetstream.New(conn)
	if err != nil {
		return fmt.Errorf("speak to JetStream: %w", err)
	}
	a := &surroundings{captures: newCaptures(js, s.opts), conn: conn, js: js, bus: s.bus, opts: s.opts}
	if a.claim, err = newPrefixClaim(conn, s.opts, s.inboxes, s.process); err != nil {
		return err
	}
	if err := a.claim.claim(ctx); err != nil {
		return err
	}
	if err := a.refuseLog(ctx); err != nil {
		return err
	}
	a.captures.Look()
	watching, stop := context.WithCancel(context.Background())
	a.stop, s.around = stop, a
	s.background.Go(func() { a.captures.watch(watching) })
	s.background.Go(func() { a.watch(watching) })
	return nil
}

// watch checks from time to time until ctx ends.
func (a *surroundings) watch(ctx context.Context) {
	others, nats := time.NewTimer(aroundSoon), time.NewTicker(aroundNATS)
	defer others.Stop()
	defer nats.Stop()
	for {
		select {
		case <-others.C:
			a.findOthers(ctx)
			others.Reset(a.claim.every())
		case <-nats.C:
			a.checkNATS(ctx)
		case <-ctx.Done():
			return
		}
	}
}

// findOthers searches for servers on the prefix that are neither this one nor in its cluster.
func (a *surroundings) findOthers(ctx context.Context) {
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

// note stores the result of a check, and logs what is new.
func (a *surroundings) note(kept *[]string, found []string) {
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

// Look implements [api.Surroundings].
func (a *surroundings) Look() { a.captures.Look() }

// Warnings implements [api.Surroundings].
func (a *surroundings) Warnings() []string {
	a.mu.Lock()
	found := slices.Clone(a.others)
	if !a.opts.clustered() {
		found = append(found, a.weak...)
	}
	a.mu.Unlock()
	return append(found, a.captures.Warnings()...)
}

// refuseLog returns ErrPrefixServed if a server without a cluster would serve the prefix of a cluster whose log
// is in NATS, even if none of its nodes is up.
func (a *surroundings) refuseLog(ctx context.Context) error {
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
func (a *surroundings) findLog(ctx context.Context) (cluster string, found bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, logAskTimeMax)
	defer cancel()
	return replication.FindLog(ctx, a.js, a.opts.Prefix, 0)
}

// logIsThere returns the error for a prefix that belongs to a cluster.
func logIsThere(o Options, cluster, remove string) error {
	return fmt.Errorf("%w: NATS has the log of the cluster %s for the prefix %q (stream %s), and its nodes would fire the same jobs; to be a node of it, start with --cluster-name %s; "+
		"to serve jobs of your own, with another --prefix; if that cluster is over for good, delete its log (%s)", ErrPrefixServed, cluster, o.Prefix, replication.StreamName(o.Prefix, 0), cluster, remove)
}

// refuseMember returns ErrPrefixServed if a server without a cluster would start on the directory of a cluster
// member that has lost its file NODE. The embedded NATS server, which would now be alone, would not show the
// cluster's log that it keeps.
func (s *Server) refuseMember(context.Context) error {
	o := s.opts
	if _, err := os.Lstat(filepath.Join(o.Dir, identityFile)); err == nil || o.NATSURL != "" {
		return nil // the file gives a better reason
	}
	kept := streamDir(o.Dir, replication.StreamName(o.Prefix, 0))
	if _, err := os.Stat(kept); err != nil {
		return nil // there is no log; opening the directory reports other faults
	}
	text, err := os.ReadFile(filepath.Join(kept, "meta.inf"))
	var stream struct {
		Metadata map[string]string `json:"metadata"`
	}
	if err == nil {
		err = json.Unmarshal(text, &stream)
	}
	if err != nil {
		return fmt.Errorf("read whose stream is in %s: %w", kept, err)
	}
	return logIsThere(o, replication.ClusterOf(stream.Metadata), "remove the directory "+kept)
}
