package scheduler

import (
	"sync"
	"time"

	"github.com/carillon-io/carillon/histogram"
	"github.com/carillon-io/carillon/instant"
	"github.com/carillon-io/carillon/scheduler/core"
)

// gauge is the engine's reading of itself, renewed after each step. Safe for concurrent use. It is a copy, so that a
// reader of the status never waits for a step and never touches the core.
type gauge struct {
	mu       sync.Mutex
	status   Status
	bytes    uint64                // of commits
	shown    instant.Millis        // the latest instant that the clock is known to have shown
	behind   instant.Millis        // when the oldest undecided tick is due; 0: none
	uses     map[string]core.Quota // what tenants use, without those that use nothing
	copies   calendarCopies
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
func (e *Engine) publish(out *core.Output, now time.Time) {
	g := &e.gauge
	g.mu.Lock()
	defer g.mu.Unlock()
	for i := range out.Launches {
		if l := &out.Launches[i]; l.Attempt == 1 && !l.Run.IsManual() && !e.core.WasPaced(l.Run) {
			g.decision.Record(now.Sub(l.Due.Time()))
		}
	}
	for _, late := range out.Lateness {
		g.lateness.Record(late)
	}
	for _, w := range out.Waits {
		g.waited[w.For].Record(w.Length)
	}
	c, applied := e.core.Reading(), e.opts.Store.Applied()
	role, commits := "standby", uint64(0)
	if e.leads.Load() {
		role, commits = "leader", applied.LSN-c.FenceMin+1
		g.behind = c.Undecided
	}
	e.rows.Store(uint32(c.RowsVersion))
	e.droppable.Store(int64(c.Droppable))
	e.readers.Store(&c.Readers)
	g.awaited, g.shown = c.Awaited, c.ClockShown
	g.noteUses(e.core.Uses())
	g.copies.note(e.core.ChangedCalendars())
	n := &c.Counts
	g.status = Status{
		Role: role, Shard: e.opts.Shard, Epoch: c.Epoch, LSN: applied.LSN, AppliedLSN: applied.LSN,
		Jobs: c.Jobs, Armed: c.Armed, Live: c.Live,
		Fired: n.Fired, Skipped: n.Skipped, Succeeded: n.Succeeded, Failed: n.Failed, Dead: n.Dead, StartedAt: e.startedAt,
		Cancelled: n.Cancelled, Retried: n.Retried, Dismissed: n.Dismissed, Stale: n.Stale, SkippedBy: n.SkippedBy,
		Reporting: c.Reporting, Notices: c.Notices, NoticesLost: n.NoticesLost, CatchUp: c.CatchUp,
		Commits: commits, JobsBy: c.JobsBy, Zones: c.Zones, RowsVersion: c.RowsVersion, Readers: c.Readers,
		RefusedBy: n.RefusedBy,
	}
}

// Readers returns the newest version of rows that each node of the cluster reads, as the log has noted it. It is not to be
// changed, and as old as Status is.
func (e *Engine) Readers() map[string]byte { return *e.readers.Load() }

// Status returns a reading of the engine. It is as of the last step, or of the last applied commit while the engine
// stands by. It is safe for concurrent use, and does not wait for a step.
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
	s.ClockBehind = max(0, e.gauge.shown.Time().Sub(now))
	if e.isStopping() { // the next leader decides what is due
		s.Behind = 0
	}
	return s
}

// JobCount returns the number of jobs, as of the last step. It is far cheaper than [Engine.Status].
func (e *Engine) JobCount() int {
	e.gauge.mu.Lock()
	defer e.gauge.mu.Unlock()
	return e.gauge.status.Jobs
}

// isStopping reports whether the engine has stopped or is stopping.
func (e *Engine) isStopping() bool {
	select {
	case <-e.stopping:
		return true
	default:
		return false
	}
}

// since returns how long ago an instant was; 0 for the zero instant and for the future.
func since(at instant.Millis, now time.Time) time.Duration {
	if at == 0 {
		return 0
	}
	return max(0, now.Sub(at.Time()))
}
