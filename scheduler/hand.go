package scheduler

import (
	"context"
	"time"

	"github.com/carillon-io/carillon/job"
)

// Hand drives an engine that leads in the place of [Engine.Serve], for a test that moves the clock by
// hand: what Serve does on several threads and by timers happens inside the calls, in a fixed order, at
// the instant that Options.Clock tells. Callers of the engine wait until the driver takes in what they
// propose. One goroutine at a time may use a Hand.
type Hand struct {
	engine    *Engine
	gathering gathering
	feeder    feeder
	unread    []*waiting // scratch
	due       []*waiting // scratch

	// stuck is when a step had something due and changed nothing. It is not repeated at that instant.
	stuck job.Millis
}

// ByHand returns the hand of an engine that leads. Close ends it. Serve must not be called.
func (e *Engine) ByHand() *Hand {
	return &Hand{
		engine:    e,
		gathering: gathering{engine: e, taken: make(map[job.ID]struct{}), wakeAt: job.MillisOf(e.opts.Clock.Now())},
		feeder:    feeder{pad: e.pad, store: e.opts.Store, clock: e.opts.Clock},
	}
}

// Wait returns when somebody has proposed something, or some attempt has ended, or when one of the channels
// is readable or closed; it reads from wake.
func (h *Hand) Wait(stop, wake <-chan struct{}) {
	select {
	case t := <-h.engine.proposals:
		h.gathering.held = t
	case <-h.engine.outcomes.ready:
	case <-wake:
	case <-stop:
	}
}

// Answer takes in what was proposed, and lets the callers go on. It launches nothing.
func (h *Hand) Answer() error {
	for h.gathering.isWaiting() || len(h.engine.proposals) > 0 {
		if err := h.step(); err != nil {
			return err
		}
	}
	return nil
}

// Settle does all that there is to do at this instant: it takes in proposals and outcomes, decides, and
// launches what is due, until nothing is left. A Sender whose attempts end later has its outcomes taken in
// by the next call.
func (h *Hand) Settle() error {
	for {
		if some, err := h.round(); err != nil || !some {
			return err
		}
	}
}

// round does each thing once, and tells whether there was something to do.
func (h *Hand) round() (some bool, err error) {
	chores, err := h.doChores()
	if err != nil {
		return false, err
	}
	now := h.now()
	h.unread, _ = h.engine.pad.unreadChunk(now, h.unread[:0])
	read := len(h.unread)
	h.feeder.readAll(h.unread)
	more, due := h.engine.pad.launchDue(now, h.due[:0])
	h.due = due[:0]

	_, ended := h.engine.outcomes.oldest()
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
	return chores || read > 0 || more || len(due) > 0 || ended || asked || decides || h.engine.pad.wants(), nil
}

func (h *Hand) now() job.Millis { return job.MillisOf(h.engine.opts.Clock.Now()) }

// step makes one step of what is there.
func (h *Hand) step() error {
	g := &h.gathering
	g.reset()
	g.drain()
	return h.engine.stepOnce(g)
}

// doChores does what a goroutine beside the loop would, and takes in what that proposes.
func (h *Hand) doChores() (some bool, err error) {
	for {
		chore := h.engine.nextChore()
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
				h.gathering.held = t
			}
			if err := h.Answer(); err != nil {
				return some, err
			}
		}
	}
}

// nextChore returns a chore that waits; nil if none does.
func (e *Engine) nextChore() func(context.Context) error {
	select {
	case r := <-e.chores.reaps:
		return func(ctx context.Context) error {
			_, err := e.proposeReaps(ctx, e.chores.moreReaps(r))
			return err
		}
	case <-e.chores.pauses.ready:
		return func(ctx context.Context) error {
			if p, ok := e.chores.pauses.next(); ok {
				return e.autoPause(ctx, p)
			}
			return nil
		}
	case <-e.chores.replan:
		return e.replanAll
	default:
		return nil
	}
}

// NumberJobs lets the ids of the jobs in an empty store begin at first, instead of where chance has it. The
// batch is to be applied before the engine is opened.
func NumberJobs(b *job.Batch, first job.ID) { b.PutMeta(metaNextID, uint64(first)) }

// Next returns when there is something to do next, after this instant; the zero time if never.
func (h *Hand) Next() time.Time {
	now := h.now()
	wake := h.gathering.wakeAt
	if wake != 0 && wake <= now {
		wake = now.Add(decisionPause)
	}
	var next job.Millis
	for _, at := range []job.Millis{wake, h.engine.pad.nextDue(), h.engine.pad.nextFar()} {
		if at > now && (next == 0 || at < next) {
			next = at
		}
	}
	if next == 0 {
		return time.Time{}
	}
	return next.Time()
}

// nextFar returns when the feeder has something to bring nearer; 0 if never.
func (p *pad) nextFar() job.Millis {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.far) == 0 {
		return 0
	}
	return p.far[0].Due - p.horizon
}

// Close refuses who still waits, and gives back what the engine holds. The engine is of no use any more.
func (h *Hand) Close() error {
	h.gathering.refuseAll()
	h.engine.pad.close()
	close(h.engine.stopped)
	return h.engine.alarm.close()
}
