package scheduler

import (
	"sync"
	"time"

	"github.com/carillon-io/carillon/histogram"
	"github.com/carillon-io/carillon/instant"
)

// gauge is the engine's reading of itself, renewed after each step. Safe for concurrent use.
type gauge struct {
	mu       sync.Mutex
	status   Status
	bytes    uint64          // of commits
	behind   instant.Millis  // when the oldest undecided tick is due; 0: none
	awaited  instant.Millis  // since when the oldest awaited report is awaited; 0: none
	decision histogram.Times // commit of the decision minus scheduled time
	lateness histogram.Times // launch minus the instant from which the attempt could be launched
	waited   [WaitReasons]histogram.Times
	commits  histogram.Times // duration until they counted
	sizes    histogram.Sizes // of commits
}

// committed records a commit that counts.
func (g *gauge) committed(took time.Duration, bytes int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.commits.Record(took)
	g.sizes.Record(bytes)
	g.bytes += uint64(bytes)
}

// publish renews the reading after a step whose output is durable.
func (e *Engine) publish(out *Output, now time.Time) {
	g := &e.gauge
	g.mu.Lock()
	defer g.mu.Unlock()
	for i := range out.Launches {
		if l := &out.Launches[i]; l.Attempt == 1 && !l.Run.IsManual() && e.core.live[l.Run].paidAt == 0 {
			g.decision.Record(now.Sub(l.Due.Time()))
		}
	}
	for _, late := range out.Lateness {
		g.lateness.Record(late)
	}
	for _, w := range out.Waits {
		g.waited[w.For].Record(w.Length)
	}
	c := e.core
	applied := e.opts.Store.Applied()
	role, commits := "standby", uint64(0)
	if e.leads.Load() {
		role, commits = "leader", applied.LSN-c.fenceMin+1
		g.behind = c.undecided()
	}
	g.awaited = c.watches.awaitedSince()
	g.status = Status{
		Role: role, Shard: e.opts.Shard, Epoch: c.epoch, LSN: applied.LSN, AppliedLSN: applied.LSN,
		Jobs: c.rows.count, Armed: c.Armed(), Live: len(c.live),
		Fired: c.counts.Fired, Skipped: c.counts.Skipped, Succeeded: c.counts.Succeeded,
		Failed: c.counts.Failed, Dead: c.counts.Dead, StartedAt: e.startedAt,
		Cancelled: c.counts.Cancelled, Retried: c.counts.Retried, Stale: c.counts.Stale, SkippedBy: c.counts.SkippedBy,
		Reporting: c.watches.used, Notices: c.outbox, NoticesLost: c.counts.NoticesLost, CatchUp: c.catchUpStatus(),
		Commits: commits, JobsBy: c.rows.byState, Zones: c.zones.reading(),
	}
}

// Status returns a reading of the engine. It is as of the last step, or of the last applied commit while the engine
// stands by.
func (e *Engine) Status() Status {
	now := e.opts.Clock.Now()
	load, overdue := e.pad.Count(instant.Of(now)), e.pad.Overdue()
	e.gauge.mu.Lock()
	defer e.gauge.mu.Unlock()
	s := e.gauge.status
	s.Waiting, s.Scheduled, s.Retrying, s.Backlog = load.Waiting, load.Scheduled, load.Retrying, load.Backlog
	s.Queued, s.InFlight = load.Queued, load.Flying
	s.Lateness, s.DecisionLateness = latenessOf(&e.gauge.lateness), latenessOf(&e.gauge.decision)
	for reason := range s.Waited {
		s.Waited[reason] = latenessOf(&e.gauge.waited[reason])
	}
	s.CommitTime, s.CommitBytes, s.CommitSizes = latenessOf(&e.gauge.commits), e.gauge.bytes, e.gauge.sizes.Read()
	s.Behind, s.ReportWaited = max(since(e.gauge.behind, now), since(overdue, now)), since(e.gauge.awaited, now)
	if e.isStopping() { // the next leader decides what is due
		s.Behind = 0
	}
	return s
}
