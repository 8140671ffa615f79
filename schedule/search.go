package schedule

import (
	"context"
	"errors"
	"math"

	"github.com/carillon-io/carillon/apierr"
	"github.com/carillon-io/carillon/instant"
)

// Bounds of the work on schedules, in steps. A step is a small piece of a search: a month, an hour or a minute that is
// examined, an exclusion that is compared. It takes 3 to 40 nanoseconds. Steps are counted and time is not
// measured, so that every node and every replay decide the same.
const (
	// StepsMax bounds the search for one tick: half a millisecond to four, by what the steps are. Schedules as users
	// write them take a few hundred, and some thousand with a calendar of thousands of days. A larger bound lets one
	// registration, and one decision, hold a processor for longer; a smaller one refuses more schedules whose
	// exclusions leave a tick in many years only.
	StepsMax = 100_000
	// latestStepsMax bounds the search for a last tick, which bisects.
	latestStepsMax = 4 * StepsMax
	// PreviewStepsMax bounds a preview or another list of ticks as a whole.
	PreviewStepsMax = 5 * StepsMax
	// pollSteps is how many steps a search takes between two looks at its context, and in one turn: a tenth of a
	// millisecond at most.
	pollSteps = 2048
	// periodSteps is what it costs to find a period of a zone.
	periodSteps = 16
)

// ErrTooLong is the error of a search that took StepsMax steps and found neither a tick nor that there is none.
// [Search.Err] returns it.
var ErrTooLong = errors.New("schedule: the search for the next tick takes too long")

// Search counts the steps of searches, and ends those that take too many or are not wanted any more. The zero value is
// ready, and belongs to one goroutine. After a search that found nothing, Err says whether there is no tick or the
// search gave up.
type Search struct {
	ctx   context.Context // nil: the search cannot be given up
	steps int
	check int // the number of steps at which to look again: at the limit, or at the context
	limit int // the number of steps at which the present search gives up
	total int // the number of steps at which all searches give up; 0: no such bound
	err   error

	turns Turns // nil: the search does not share its processor
	polls int   // the number of steps at which the next turn is due
	holds bool  // a turn
}

// Turns lets the searches of several parties take turns on the processors. Its methods are safe for concurrent use.
type Turns interface {
	// Take waits for a turn, or returns the error of the context if that ends first.
	Take(ctx context.Context) error
	// Give gives a turn back.
	Give()
}

// turnsKey is the key of the turns in a context.
type turnsKey struct{}

// WithTurns returns a context whose searches take a turn for each piece of their work after the first one, which is
// small. Most searches end within it and never wait.
func WithTurns(ctx context.Context, t Turns) context.Context {
	return context.WithValue(ctx, turnsKey{}, t)
}

// Turn waits for a turn of a context that WithTurns returned, and gives it back at once: for work other than searches that is
// cut into pieces of about the same cost. It returns the error of the context if that has ended.
func Turn(ctx context.Context) error {
	turns, _ := ctx.Value(turnsKey{}).(Turns)
	if turns == nil || ctx.Err() != nil {
		return ctx.Err()
	}
	if err := turns.Take(ctx); err != nil {
		return err
	}
	turns.Give()
	return nil
}

// SearchFor returns searches that end with a context and take at most the given steps together; 0: no such bound. A
// search for one tick has the bound [StepsMax] besides. The caller calls Done when it needs no more ticks.
func SearchFor(ctx context.Context, steps int) *Search {
	turns, _ := ctx.Value(turnsKey{}).(Turns)
	return &Search{ctx: ctx, total: steps, turns: turns, polls: pollSteps}
}

// Done ends all searches, and gives back the turn that they hold. It may be called more than once.
func (x *Search) Done() {
	if x.holds {
		x.holds = false
		x.turns.Give()
	}
}

// Steps returns how many steps all searches have taken.
func (x *Search) Steps() int { return x.steps }

// Err returns why the last search gave up: [ErrTooLong], or the error of the context; nil if it came to its end.
func (x *Search) Err() error { return x.err }

// begin begins a search of at most so many steps. It returns false if the context has ended, or all steps are taken.
func (x *Search) begin(most int) bool {
	if x.err == ErrTooLong {
		x.err = nil
	}
	if x.limit = x.steps + most; x.total > 0 {
		x.limit = min(x.limit, x.total)
	}
	return x.look()
}

// take counts steps, before they are made. It returns false if the search must end.
func (x *Search) take(steps int) bool {
	x.steps += steps
	return x.steps < x.check || x.look()
}

// look looks whether the search must end. The zero Search begins with the usual bound.
func (x *Search) look() bool {
	if x.limit == 0 {
		x.limit = x.steps + StepsMax
	}
	switch {
	case x.err != nil:
	case x.steps >= x.limit:
		x.err = ErrTooLong
	case x.ctx == nil:
		x.check = x.limit
	default:
		if x.err = x.ctx.Err(); x.err == nil && x.turns != nil && x.steps >= x.polls {
			x.nextTurn()
		}
		x.check = min(x.limit, x.steps+pollSteps)
	}
	if x.err != nil {
		x.check = math.MinInt // so that the search looks here again, and ends
		return false
	}
	return true
}

// nextTurn gives back the turn of the search, and waits for the next one.
func (x *Search) nextTurn() {
	x.polls = x.steps + pollSteps
	x.Done()
	x.err = x.turns.Take(x.ctx)
	x.holds = x.err == nil
}

// Refusal returns the error for a caller whose schedule is too costly to search, for one who is gone; nil if the last search came to
// its end. Without exclusions no schedule is too costly.
func (x *Search) Refusal() error {
	switch x.err {
	case nil:
		return nil
	case ErrTooLong:
		return errTooCostly
	}
	return errGone
}

// errGone is the refusal of a request that ended during a search. A search precedes what it decides.
var errGone = apierr.Errorf(apierr.Unavailable, "", "the time of the request ended before the ticks of the schedule were found; nothing has changed, ask again later or for fewer ticks")

// errTooCostly says what would be right instead of the schedule.
var errTooCostly = apierr.Errorf(apierr.InvalidSchedule, "exclude", "leaves so few ticks of the schedule, by so many different exclusions, that the next one takes more than %d steps to find; "+
	"want fewer exclusions, or a schedule that ticks only at the times that are left", StepsMax)

// Walk lists the ticks of a schedule one after another. For several expressions it is faster than NextIn, because it
// remembers the next tick of each. It belongs to one goroutine.
type Walk struct {
	schedule   *Schedule
	at, anchor instant.Millis
	known      []instant.Millis // see nextOfMany
}

// Walk begins to list the ticks after an instant. anchor is as in [Schedule.Next].
func (s *Schedule) Walk(after, anchor instant.Millis) *Walk {
	return &Walk{schedule: s, at: after, anchor: anchor, known: make([]instant.Millis, len(s.members))}
}

// Next returns the next tick. If it returns false, x.Err says whether the search gave up; it goes on from the same
// place then.
func (w *Walk) Next(x *Search) (instant.Millis, bool) {
	if !x.begin(StepsMax) {
		return 0, false
	}
	tick, ok := w.schedule.next(x, w.at, w.anchor, w.known)
	if ok {
		w.at = tick
	}
	return tick, ok
}
