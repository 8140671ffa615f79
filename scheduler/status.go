package scheduler

import (
	"sync"
	"time"
)

// gauge is the engine's reading of itself, renewed after each step for whoever asks.
type gauge struct {
	mu       sync.Mutex
	status   Status
	decision histogram // commit of the decision minus scheduled time
	lateness histogram // launch minus scheduled time
	commits  histogram // until they counted
	bytes    uint64    // of commits
}

// committed notes a commit that counts.
func (g *gauge) committed(took time.Duration, bytes int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.commits.record(took)
	g.bytes += uint64(bytes)
}

// publish renews the reading after a step whose output is durable now.
func (e *Engine) publish(out *Output, now time.Time) {
	g := &e.gauge
	g.mu.Lock()
	defer g.mu.Unlock()
	for i := range out.Launches {
		if l := &out.Launches[i]; l.Attempt == 1 && !l.Run.IsManual() {
			g.decision.record(now.Sub(l.Due.Time()))
		}
	}
	for _, late := range out.Lateness {
		g.lateness.record(late)
	}
	c := e.core
	applied := e.opts.Store.Applied()
	role, commits := "standby", uint64(0)
	if e.leads.Load() {
		role, commits = "leader", applied.LSN-c.fenceMin+1
	}
	g.status = Status{
		Role: role, Shard: e.opts.Shard, Epoch: c.epoch, LSN: applied.LSN, AppliedLSN: applied.LSN,
		Jobs: c.rows.count, Armed: c.Armed(), Live: len(c.live),
		Fired: c.counts.Fired, Skipped: c.counts.Skipped, Succeeded: c.counts.Succeeded,
		Failed: c.counts.Failed, Dead: c.counts.Dead, StartedAt: e.startedAt,
		Cancelled: c.counts.Cancelled, Retried: c.counts.Retried, Stale: c.counts.Stale, SkippedBy: c.counts.SkippedBy,
		Reporting: c.watches.used, Notices: c.outbox, NoticesLost: c.counts.NoticesLost, CatchUp: c.catchUpStatus(),
		Commits: commits,
	}
}

// Status returns a reading of the engine, not older than its last step or, while it stands by, than the
// last commit applied.
func (e *Engine) Status() Status {
	waiting, flying := e.pad.load()
	e.gauge.mu.Lock()
	defer e.gauge.mu.Unlock()
	s := e.gauge.status
	s.Waiting, s.InFlight = waiting, flying
	s.Lateness, s.DecisionLateness = e.gauge.lateness.summary(), e.gauge.decision.summary()
	s.CommitTime, s.CommitBytes = e.gauge.commits.summary(), e.gauge.bytes
	return s
}
