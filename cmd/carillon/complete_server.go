package main

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/carillon-io/carillon/client"
)

// The bounds of a look-up, for which a user waits at the prompt.
const (
	// More names than that do not help at a prompt.
	completeNamesMax = 50
	// Labels and latest runs are not listed by themselves: they are those of this number of jobs.
	completeJobsMax = 200
)

// completeTime is how long the prompt stands still if the server does not answer. Tests of what is found wait longer.
var completeTime = 500 * time.Millisecond

// prefix returns what was typed of the value at the cursor.
func (l *line) prefix() string {
	if l.value == nil && strings.HasPrefix(l.last, "--") {
		_, prefix, _ := strings.Cut(l.last, "=")
		return prefix
	}
	return l.last
}

// serversValues returns values that only a server knows: the one that the line and the environment select.
func serversValues(ctx context.Context, con *console, l *line, kind valueKind) []candidate {
	find, ok := map[valueKind]func(*remote, context.Context, string) []candidate{
		jobNames: (*remote).jobCandidates, jobLabels: (*remote).labelCandidates, calendarNames: (*remote).calendarCandidates,
		nodeNames: (*remote).nodeCandidates, shardNumbers: (*remote).shardCandidates, liveRuns: (*remote).liveCandidates, deadRuns: (*remote).deadCandidates,
		anyRuns: (*remote).runCandidates,
	}[kind]
	if !ok {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, completeTime)
	defer cancel()
	r := l.connect(ctx, con)
	if r == nil {
		return nil
	}
	defer r.close()
	return find(r, ctx, l.prefix())
}

// connect connects to the server of the line; it returns nil if that fails. It parses the server flags of the line as
// those of another command, so that variables and contexts count as they would for the finished line. It gives no
// caller's name, since reading names is no act to be audited.
func (l *line) connect(ctx context.Context, con *console) *remote {
	// A grammar of its own: the one of the program is filled with the hidden command.
	grammar := &cli{}
	parser, err := newParser(grammar, con)
	if err != nil {
		return nil
	}
	if _, err := parser.Parse(append([]string{"status"}, l.server...)); err != nil {
		return nil
	}
	flags := grammar.Status.serverFlags
	flags.Timeout = span(completeTime)
	r, err := flags.connectAs(ctx, "")
	if err != nil {
		return nil
	}
	return r
}

// jobCandidates returns the names of jobs with their schedules.
func (r *remote) jobCandidates(ctx context.Context, prefix string) (all []candidate) {
	for j, err := range atMost(r.Jobs(ctx, client.ListRequest{Prefix: prefix, Limit: completeNamesMax}), completeNamesMax) {
		if err != nil {
			break
		}
		all = append(all, candidate{j.Name, showSchedule(&j.Job)})
	}
	return all
}

// labelCandidates returns labels of the first jobs, in order.
func (r *remote) labelCandidates(ctx context.Context, prefix string) []candidate {
	labels := make(map[string]bool)
	for j, err := range atMost(r.Jobs(ctx, client.ListRequest{Limit: completeJobsMax}), completeJobsMax) {
		if err != nil {
			break
		}
		for key, value := range j.Labels {
			if label := key + "=" + value; strings.HasPrefix(label, prefix) {
				labels[label] = true
			}
		}
	}
	return candidates(slices.Sorted(maps.Keys(labels)))
}

// calendarCandidates returns the names of calendars with their descriptions.
func (r *remote) calendarCandidates(ctx context.Context, _ string) (all []candidate) {
	for c, err := range atMost(r.Calendars(ctx, client.CalendarListRequest{Limit: completeNamesMax}), completeNamesMax) {
		if err != nil {
			break
		}
		all = append(all, candidate{c.Name, c.Description})
	}
	return all
}

// nodeCandidates returns the nodes of the cluster with their roles; none of a single node.
func (r *remote) nodeCandidates(ctx context.Context, _ string) (all []candidate) {
	s, err := r.Status(ctx)
	if err != nil || s.Cluster == nil {
		return nil
	}
	for _, n := range s.Cluster.Nodes {
		all = append(all, candidate{n.Node, n.Role})
	}
	return all
}

// shardCandidates returns the numbers of the shards with their leaders.
func (r *remote) shardCandidates(ctx context.Context, prefix string) (all []candidate) {
	s, err := r.Status(ctx)
	if err != nil {
		return nil
	}
	for _, row := range shardsOf(&s) {
		if number := strconv.FormatUint(uint64(row.Shard), 10); strings.HasPrefix(number, prefix) && len(all) < completeNamesMax {
			all = append(all, candidate{number, "leader: " + showLeader(&row)})
		}
	}
	return all
}

// runCandidates returns the latest dead runs, and the last run of each of the first jobs.
func (r *remote) runCandidates(ctx context.Context, prefix string) []candidate {
	all := append(r.deadCandidates(ctx, prefix), r.lastCandidates(ctx, func(string) bool { return true })...)
	seen := make(map[string]bool)
	return slices.DeleteFunc(all, func(c candidate) bool {
		again := seen[c.value]
		seen[c.value] = true
		return again
	})
}

// liveCandidates returns the last runs of the first jobs that are not over.
func (r *remote) liveCandidates(ctx context.Context, _ string) []candidate {
	return r.lastCandidates(ctx, func(status string) bool {
		return slices.Contains([]string{"pending", "running", "retrying"}, status)
	})
}

// deadCandidates returns the latest dead runs with their jobs.
func (r *remote) deadCandidates(ctx context.Context, _ string) (all []candidate) {
	for run, err := range atMost(r.Runs(ctx, client.RunListRequest{Status: "dead", Limit: completeNamesMax}), completeNamesMax) {
		if err != nil {
			break
		}
		all = append(all, candidate{run.RunID, run.Job + ", dead"})
	}
	return all
}

// lastCandidates returns the last runs of the first jobs whose status is wanted, with their jobs.
func (r *remote) lastCandidates(ctx context.Context, wanted func(status string) bool) (all []candidate) {
	for j, err := range atMost(r.Jobs(ctx, client.ListRequest{Limit: completeJobsMax}), completeJobsMax) {
		if err != nil {
			break
		}
		if last := j.LastRun; last != nil && wanted(last.Status) && len(all) < completeNamesMax {
			all = append(all, candidate{last.ID, j.Name + ", " + last.Status})
		}
	}
	return all
}
