package scheduler

import (
	"context"
	"errors"
	"time"

	"github.com/carillon-io/carillon/instant"
	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/scheduler/core"
	"github.com/carillon-io/carillon/scheduler/pad"
)

// ManualDriver drives a leading engine in place of [Engine.Serve], for tests that set the clock themselves. What Serve
// does on several threads and by timers happens inside the calls, in a fixed order, at the instant that Options.Clock
// returns. Callers of the engine block until the driver handles their proposals. Only one goroutine at a time may use
// a ManualDriver. It uses the same steps, pad and housekeeping as Serve; only the order in which they run is fixed, so
// that a simulation can be repeated from its seed.
type ManualDriver struct {
	engine    *Engine
	gathering gathering
	pad       *pad.Manual

	// stuck is the instant at which a step had something due and changed nothing. The step is not repeated at that
	// instant.
	stuck instant.Millis
}

// DriveManually returns the driver of an engine that leads. Serve must not be called, and the driver must be closed.
func (e *Engine) DriveManually() *ManualDriver {
	return &ManualDriver{
		engine:    e,
		gathering: gathering{engine: e, taken: make(map[job.ID]struct{}), wakeAt: instant.Of(e.opts.Clock.Now())},
		pad:       e.pad.DriveManually(),
	}
}

// Wait returns when a proposal or an outcome has arrived, or when one of the channels is readable or closed. It
// receives from wake.
func (h *ManualDriver) Wait(stop, wake <-chan struct{}) {
	select {
	case t := <-h.engine.proposals:
		h.gathering.unfinished = t
	case <-h.engine.outcomes.ready:
	case <-wake:
	case <-stop:
	}
}

// Answer handles the proposals that have arrived and answers their callers. It launches nothing.
func (h *ManualDriver) Answer() error {
	for h.gathering.isWaiting() || len(h.engine.proposals) > 0 {
		if err := h.step(); err != nil {
			return err
		}
	}
	return nil
}

// Settle does everything that is due at this instant: it handles proposals and outcomes, decides ticks and launches,
// until nothing is left. Outcomes that a Sender reports later are handled by the next call.
func (h *ManualDriver) Settle() error {
	for {
		if some, err := h.round(); err != nil || !some {
			return err
		}
	}
}

// round does each kind of work once, and reports whether there was any.
func (h *ManualDriver) round() (some bool, err error) {
	housekeeping, err := h.doHousekeeping()
	if err != nil {
		return false, err
	}
	now := h.now()
	read := h.pad.Take(now)
	h.pad.Read(read)
	left, more := h.pad.Launch(now)

	ended := h.engine.outcomes.some()
	asked := h.gathering.isWaiting() || len(h.engine.proposals) > 0
	decides := h.gathering.wakeAt != 0 && h.gathering.wakeAt <= now && h.stuck != now
	if ended || asked || decides {
		before := h.engine.opts.Store.Applied()
		if err := h.step(); err != nil {
			return false, err
		}
		if !ended && !asked && before == h.engine.opts.Store.Applied() {
			h.stuck = now
		}
	}
	return housekeeping || read > 0 || more || left > 0 || ended || asked || decides || h.pad.Wants(), nil
}

func (h *ManualDriver) now() instant.Millis { return instant.Of(h.engine.opts.Clock.Now()) }

// step makes one step with what has arrived.
func (h *ManualDriver) step() error {
	g := &h.gathering
	g.reset()
	g.drain()
	return h.engine.stepOnce(g)
}

// doHousekeeping does the work of the goroutines beside the loop, and handles the proposals that they make.
func (h *ManualDriver) doHousekeeping() (some bool, err error) {
	for {
		chore := h.engine.nextHousekeeping()
		if chore == nil {
			return some, nil
		}
		some = true
		done := make(chan struct{})
		go func() {
			defer close(done)
			if err := chore(context.Background()); err != nil {
				h.engine.opts.Logger.Warn("a chore failed", "error", err)
			}
		}()
		for running := true; running; {
			select {
			case <-done:
				running = false
			case t := <-h.engine.proposals:
				h.gathering.unfinished = t
			}
			if err := h.Answer(); err != nil {
				return some, err
			}
		}
	}
}

// nextHousekeeping returns a task that waits, or nil if there is none.
func (e *Engine) nextHousekeeping() func(context.Context) error {
	select {
	case r := <-e.housekeeping.reaps:
		return func(ctx context.Context) error {
			_, err := e.proposeReaps(ctx, e.housekeeping.moreReaps(r))
			return err
		}
	case <-e.housekeeping.pauses.ready:
		return func(ctx context.Context) error {
			if p, ok := e.housekeeping.pauses.next(); ok {
				return e.autoPause(ctx, p)
			}
			return nil
		}
	case <-e.housekeeping.replan:
		return e.replanAll
	default:
		return nil
	}
}

// NumberJobs makes the ids of the jobs in an empty store begin at first, instead of at a random number. The batch
// must be applied before the engine is opened.
func NumberJobs(b *job.Batch, first job.ID) { core.NumberJobs(b, first) }

// Next returns the next instant after the present one at which there is something to do, or the zero time if there is
// none.
func (h *ManualDriver) Next() time.Time {
	now := h.now()
	wake := h.gathering.wakeAt
	if wake != 0 && wake <= now {
		wake = now.Add(minPacing.decisions)
	}
	var next instant.Millis
	for _, at := range []instant.Millis{wake, h.engine.pad.NextDue(), h.engine.pad.NextLater()} {
		if at > now && (next == 0 || at < next) {
			next = at
		}
	}
	if next == 0 {
		return time.Time{}
	}
	return next.Time()
}

// Check recounts what the engine counts, and what its index of lists has, in the rows of its store, and returns what is
// wrong. Its cost grows with the number of jobs.
func (h *ManualDriver) Check() error {
	e := h.engine
	return errors.Join(e.core.Check(), e.core.CheckBytes(e.opts.Store), e.core.CheckIndex(e.opts.Store))
}

// Close fails pending callers and releases the engine's resources. The engine cannot be used afterwards.
func (h *ManualDriver) Close() error {
	h.gathering.refuseAll()
	err := h.engine.pad.Close()
	close(h.engine.stopped)
	return err
}
