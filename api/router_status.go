package api

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/carillon-io/carillon/access"
	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/job"
)

// statusWait bounds how long the status waits for a shard. A caller asks for it most when something does not answer.
const statusWait = 2 * time.Second

// status returns the status of all shards together, with a row for each. A shard that does not answer has a row without
// a leader, and a warning; the request does not fail for it. If the status may lag, the numbers are those of copies, and the
// rows are what this node has heard of the leaders.
func (r *router) status(ctx context.Context, v *Verb, q *Request) (Reply, error) {
	if _, err := requestOf(q, statusMembers); err != nil {
		return Reply{}, err
	}
	r.front.opts.Look()
	asking, cancel := context.WithTimeout(ctx, statusWait)
	defer cancel()
	of := make([]*client.Status, r.count)
	if err := inParallel(ctx, q, r.all(0), func(shard uint32, part *Request) { of[shard] = r.statusOf(asking, shard, v, part) }); err != nil {
		return Reply{}, err
	}
	all := r.front.opts.Status(r.front.engineStatus(), q.Who)
	known := all.Shards
	all.Shards = make([]client.ShardStatus, r.count)
	for i, one := range of {
		row := &all.Shards[i]
		*row = NewShardStatus(uint32(i), r.count)
		if i < len(known) {
			row.Replicas = known[i].Replicas
		}
		if leader := r.shards.Leader(uint32(i)); leader != nil {
			row.Role = "leader"
		}
		if q.Lag != nil && i < len(known) {
			*row = known[i]
		}
		if one == nil {
			all.Warnings = append(all.Warnings, awayWarning(i, q))
			continue
		}
		addStatus(all, one)
		if q.Lag == nil {
			row.HasLeader, row.Epoch, row.LSN, row.Jobs, row.Lag = true, one.Epoch, one.LSN, one.Jobs, one.Lag
		}
		if one.Cluster != nil {
			if q.Lag == nil {
				row.Leader = one.Cluster.Node
			}
			if row.Replicas == nil {
				row.Replicas = one.Cluster.Replicas()
			}
			for _, warning := range one.Cluster.Warnings {
				all.Warnings = append(all.Warnings, fmt.Sprintf("shard %d: %s", i, warning))
			}
		}
	}
	warnClock(all)
	text, err := json.Marshal(all, encoding)
	return Reply{Text: text}, err
}

// awayWarning is the warning of a shard that has not answered.
func awayWarning(shard int, q *Request) string {
	if q.Lag != nil {
		return fmt.Sprintf("no node with a copy of shard %d answers", shard)
	}
	return fmt.Sprintf("shard %d has no leader that answers: requests for its jobs are refused until it has one", shard)
}

// StatusOfAll returns the status of all shards, between Enter and Leave, for a caller whose rights the way in has checked.
// ok is false for the executor of one engine, whose status is that of its node. tenant and from are those of the request
// that the shards are sent, and with a lag it need not be their leaders that answer.
func (x *Executor) StatusOfAll(ctx context.Context, tenant, from string, who access.Who, lag *Lag) (text []byte, ok bool) {
	if x.router == nil {
		return nil, false
	}
	reply, err := x.router.status(ctx, VerbNamed("status"), &Request{Tenant: tenant, Asker: job.Actor{From: from}, Who: who, Body: []byte("{}"), Lag: lag, isSpent: true})
	return reply.Text, err == nil
}

// NewShardStatus returns the row of one of so many shards, before anything is known of it but its slots.
func NewShardStatus(shard uint32, shards int) client.ShardStatus {
	first, last := job.SlotsOf(shard, shards)
	return client.ShardStatus{Shard: shard, Slots: fmt.Sprintf("%d-%d", first, last)}
}

// statusOf returns the status of the leader of a shard; nil if none answers.
func (r *router) statusOf(ctx context.Context, shard uint32, v *Verb, q *Request) *client.Status {
	reply, err := r.askPart(ctx, shard, v, q, []byte("{}"))
	if err != nil {
		return nil
	}
	one := new(client.Status)
	if decode(reply.Text, one) != nil {
		return nil
	}
	return one
}

// addStatus adds the numbers of a shard to those of all.
func addStatus(all, one *client.Status) {
	all.Epoch = max(all.Epoch, one.Epoch)
	for _, of := range [][2]*uint64{
		{&all.LSN, &one.LSN}, {&all.AppliedLSN, &one.AppliedLSN}, {&all.Lag, &one.Lag}, {&all.Fired, &one.Fired}, {&all.Skipped, &one.Skipped},
		{&all.Succeeded, &one.Succeeded}, {&all.Failed, &one.Failed}, {&all.Dead, &one.Dead}, {&all.Cancelled, &one.Cancelled},
		{&all.Retried, &one.Retried}, {&all.StaleReports, &one.StaleReports}, {&all.Commits, &one.Commits}, {&all.NoticesLost, &one.NoticesLost},
	} {
		*of[0] += *of[1]
	}
	for _, of := range [][2]*int{
		{&all.Jobs, &one.Jobs}, {&all.Armed, &one.Armed}, {&all.Waiting, &one.Waiting}, {&all.Scheduled, &one.Scheduled}, {&all.Retrying, &one.Retrying},
		{&all.Backlog, &one.Backlog}, {&all.Queued, &one.Queued}, {&all.InFlight, &one.InFlight}, {&all.Live, &one.Live},
		{&all.Reporting, &one.Reporting}, {&all.Notices, &one.Notices}, {&all.CatchUp.Jobs, &one.CatchUp.Jobs},
	} {
		*of[0] += *of[1]
	}
	all.ClockBehindMS = max(all.ClockBehindMS, one.ClockBehindMS)
	for reason, n := range one.SkippedBy {
		all.SkippedBy[reason] += n
	}
	all.CatchUp.Rate += one.CatchUp.Rate
	all.CatchUp.Left = max(all.CatchUp.Left, one.CatchUp.Left)
	for _, of := range [][2]*client.Lateness{
		{&all.Lateness, &one.Lateness}, {&all.DecisionLateness, &one.DecisionLateness}, {&all.Waited.Overlap, &one.Waited.Overlap},
		{&all.Waited.CatchUp, &one.Waited.CatchUp}, {&all.Waited.Target, &one.Waited.Target}, {&all.Waited.Retry, &one.Waited.Retry},
	} {
		addLateness(of[0], of[1])
	}
	addZones(&all.TZData, &one.TZData)
	if all.StartedAt.IsZero() || one.StartedAt.Before(all.StartedAt.Time) {
		all.StartedAt = one.StartedAt
	}
	for _, warning := range one.Warnings {
		if !slices.Contains(all.Warnings, warning) {
			all.Warnings = append(all.Warnings, warning)
		}
	}
}

// addLateness adds a distribution: the counts are summed, and each percentile is that of the worst shard, because the
// replies do not have the histograms.
func addLateness(all, one *client.Lateness) {
	all.Count += one.Count
	all.P50MS, all.P90MS, all.P99MS = max(all.P50MS, one.P50MS), max(all.P90MS, one.P90MS), max(all.P99MS, one.P99MS)
	all.P999MS, all.MaxMS = max(all.P999MS, one.P999MS), max(all.MaxMS, one.MaxMS)
}

// addZones adds the rules of timezones of a shard. Source, version and digest are those of the first shard that answers.
func addZones(all, one *client.TZData) {
	if all.Source == "" {
		all.Source, all.Version, all.Digest = one.Source, one.Version, one.Digest
	}
	all.Zones, all.Differing, all.Changed = max(all.Zones, one.Zones), max(all.Differing, one.Differing), max(all.Changed, one.Changed)
	all.Moved += one.Moved
}
