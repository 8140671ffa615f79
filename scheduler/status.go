package scheduler

import (
	"sync"
	"time"

	"github.com/carillon-io/carillon/job"
)

// gauge is the engine's reading of itself, renewed after each step for whoever asks.
type gauge struct {
	mu       sync.Mutex
	status   Status
	decision histogram // commit of the decision minus scheduled time
	lateness histogram // launch minus scheduled time
}

// publish renews the reading. Outcomes are those that the step took in, launches those that it made,
// which are durable now.
func (e *Engine) publish(outcomes []job.Outcome, launches []Launch, now time.Time) {
	g := &e.gauge
	g.mu.Lock()
	defer g.mu.Unlock()
	for i := range launches {
		if l := &launches[i]; l.Attempt == 1 && !l.Run.IsManual() {
			g.decision.record(now.Sub(l.Run.At.Time()))
		}
	}
	for i := range outcomes {
		if o := &outcomes[i]; o.Attempt == 1 && !o.Run.IsManual() && !o.LaunchedAt.IsZero() {
			g.lateness.record(o.LaunchedAt.Sub(o.Run.At.Time()))
		}
	}
	c := e.core
	applied := e.opts.Store.Applied()
	g.status = Status{
		Role: "leader", Shard: e.opts.Shard, Epoch: c.epoch, LSN: applied.LSN, AppliedLSN: applied.LSN,
		Jobs: c.rows.count, Armed: c.Armed(), Live: len(c.live),
		Fired: c.counts.Fired, Skipped: c.counts.Skipped, Succeeded: c.counts.Succeeded,
		Failed: c.counts.Failed, Dead: c.counts.Dead, StartedAt: e.startedAt,
		Commits: applied.LSN - c.fenceMin + 1,
	}
}

// Status returns a reading of the engine, not older than its last step.
func (e *Engine) Status() Status {
	waiting, flying := e.pad.load()
	e.gauge.mu.Lock()
	defer e.gauge.mu.Unlock()
	s := e.gauge.status
	s.Waiting, s.InFlight = waiting, flying
	s.Lateness, s.DecisionLateness = e.gauge.lateness.summary(), e.gauge.decision.summary()
	return s
}
