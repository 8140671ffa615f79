package bus

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-io/carillon/replication"
)

// CheckNATS checks where NATS is weaker than the cluster needs. Facts that cannot be read now stay as they were last
// read, with a warning about that. Old facts are kept because a warning that disappears while NATS is silent would
// read as good news. Watch calls it regularly, and the start of a node once more when the log exists.
func (a *Surroundings) CheckNATS(ctx context.Context) {
	if !a.opts.clustered() {
		a.note(&a.weak, a.findNoJetStream())
		return
	}
	found, err := a.findWeaknesses(ctx)
	if err != nil {
		a.opts.Logger.Debug("it is not known how NATS is set up", slog.Any("error", err))
		if found = a.Weaknesses(); !slices.Contains(found, noAnswer) {
			found = append(found, noAnswer)
		}
	}
	a.note(&a.weak, found)
}

const noAnswer = "JetStream does not answer for the log of the cluster: it elects a leader, or more than half of the servers that keep the log are missing, so that nothing can be committed; start them; where all are there and that lasts for minutes, the runbook says what to do about a log in NATS that does not answer"

// findNoJetStream warns that the embedded server of a node alone has lost JetStream. Jobs need JetStream for
// streams only.
func (a *Surroundings) findNoJetStream() []string {
	if a.bus.embedded == nil || a.bus.embedded.JetStreamEnabled() {
		return nil
	}
	return []string{"the embedded NATS server has given JetStream up, as it does when its disk is full or fails: runs with targets of kind jetstream fail, and events wait; make room in the data directory, and start this server again"}
}

func (a *Surroundings) findWeaknesses(ctx context.Context) ([]string, error) {
	facts, err := a.Facts(ctx)
	if err != nil {
		return nil, err
	}
	var found []string
	if err := facts.Validate(); err != nil { // such as after a reload of its configuration
		found = append(found, err.Error())
	}
	ctx, cancel := context.WithTimeout(ctx, logAskTimeMax)
	defer cancel()
	stream, err := a.js.Stream(ctx, replication.StreamName(a.opts.Prefix, 0))
	if err != nil {
		return nil, err
	}
	info := stream.CachedInfo()
	found = append(found, facts.warnings()...)
	if w := warnOffline(info); w != "" {
		found = append(found, w)
	}
	return found, nil
}

// Facts returns what can be known about the NATS servers now. NATS may refuse to tell; then the facts are few, and there
// is no error.
func (a *Surroundings) Facts(ctx context.Context) (Facts, error) {
	facts, err := a.bus.facts(ctx, a.conn)
	if err == nil {
		a.noteSync(facts)
	}
	return facts, err
}

// noteSync records whether the servers sync what they acknowledge. A server that did counts as doing so while it is
// away. A server that is down does not answer, so an incomplete list proves nothing new: it keeps the earlier verdict,
// but never makes a better one. The verdict decides whether a starting node that finds no leader must wait for the
// other members: they may have commits that a NATS server without syncs has lost.
func (a *Surroundings) noteSync(f Facts) {
	whole := a.bus.embedded != nil || f.NATSSyncs || f.Members > 0 && len(f.Servers) >= f.Members
	a.mu.Lock()
	defer a.mu.Unlock()
	a.syncs = f.warnSync() == "" && (whole || a.syncs)
	a.replicas = f.Replicas(0)
}

// Synced reports whether the servers are known to sync what they acknowledge.
func (a *Surroundings) Synced() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.syncs
}

// Replicas returns how many servers can keep each stream of the cluster, as far as it was known last: at most the number that the
// cluster needs.
func (a *Surroundings) Replicas() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.replicas
}

// warnOffline names the servers that keep the log and are not reachable. The leader of the stream gives the list;
// without a leader there is no answer to read it from.
func warnOffline(info *jetstream.StreamInfo) string {
	if info.Cluster == nil {
		return ""
	}
	var offline []string
	for _, peer := range info.Cluster.Replicas {
		if peer.Offline {
			offline = append(offline, peer.Name)
		}
	}
	if len(offline) == 0 {
		return ""
	}
	slices.Sort(offline)
	return fmt.Sprintf("NATS servers that keep the log of the cluster are not there (%s): when more than half of the %d are missing, the cluster stands still; start them",
		strings.Join(offline, ", "), info.Config.Replicas)
}

// Weaknesses returns what is weaker than promised, each with its remedy.
func (a *Surroundings) Weaknesses() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.weak)
}
