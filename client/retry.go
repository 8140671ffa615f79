package client

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/nats-io/nats.go"
)

// The pauses before a request is repeated: each is twice as long as the one before, up to the maximum.
const (
	retryPauseMin = 20 * time.Millisecond
	retryPauseMax = 250 * time.Millisecond
)

// How long a repeatable request waits for its answer before it is repeated: the leader that received it
// may have died. A bulk registration has more time, because the server needs longer for it.
const (
	// Shorter ones would repeat requests that a busy leader is about to answer.
	tryTimeout     = 5 * time.Second
	bulkTryTimeout = 25 * time.Second
)

// onceVerbs lists the verbs that must not be repeated while it is unknown whether they took effect,
// because a second time has another effect. All other verbs may be repeated; but see [isRepeatable].
var onceVerbs = map[string]bool{
	"jobs.delete":       true, // the second request finds no job, or one that was put meanwhile
	"calendars.delete":  true,
	"jobs.backfill":     true, // with repeat, it fires the runs again
	"runs.retry":        true, // a run that is dead again would get another attempt
	"runs.retry_many":   true,
	"runs.dismiss_many": true, // the second would dismiss further runs
}

// isRepeatable reports whether a request may be carried out twice.
func isRepeatable(verb string, request any) bool {
	switch r := request.(type) {
	case PutRequest:
		return r.IfVersion == nil // the second would find the version that the first made
	case PauseRequest:
		return r.IfVersion == nil
	case TriggerRequest:
		return r.IdempotencyKey != ""
	}
	return !onceVerbs[verb]
}

// fate classifies a request by the error that it got.
type fate uint8

const (
	answered fate = iota // answered finally, or repeating it cannot help
	undone               // no server has carried it out
	unclear              // carried out or not; unknown
)

// fateOf returns the fate of a request that got err. An error that is none of this package's kinds, such as a reply
// that cannot be decoded, is final.
func fateOf(err error) fate {
	e, ok := errors.AsType[*Error](err)
	switch {
	case !ok:
		return answered
	case e.Code == CodeNotLeader, errors.Is(e.Cause, nats.ErrNoResponders), errors.Is(e.Cause, nats.ErrReconnectBufExceeded), errors.Is(e.Cause, errNotSent):
		return undone
	case e.Code == CodeUnavailable && (e.Cause == nil || errors.Is(e.Cause, context.DeadlineExceeded) || errors.Is(e.Cause, errBroken)):
		return unclear
	}
	return answered
}

// call is an encoded request.
type call struct {
	verb string
	body []byte
	// repeatable says that carrying the request out twice is as good as once.
	repeatable bool
	timeout    time.Duration // of the whole call, if the context has no deadline
	tryTimeout time.Duration // of each try, if the request may be repeated
}

// exchange sends a request and decodes its reply. It repeats the request by the rules in the package
// comment.
func (c *Client) exchange(ctx context.Context, q call, reply any) error {
	_, err := c.exchangeInDoubt(ctx, q, reply)
	return err
}

// exchangeInDoubt is exchange. It also returns what a try got before the last one that may have taken effect; nil if there was
// none. The error says so itself; the refusals of single jobs in a reply do not.
func (c *Client) exchangeInDoubt(ctx context.Context, q call, reply any) (earlier, err error) {
	until, ok := ctx.Deadline()
	if !ok {
		until = time.Now().Add(q.timeout)
	}
	err = c.try(ctx, q, until, 0, reply)
	if !c.mayRepeat(q, err, nil) {
		return nil, err
	}
	// Only here, because nearly every request is sent once, and a context with a deadline is a timer more for it.
	ctx, cancel := context.WithDeadline(ctx, until)
	defer cancel()
	return c.repeat(ctx, q, until, err, reply)
}

// repeat sends a request whose first try got err again, until it has an answer. ctx ends at until. Its results are those of
// exchangeInDoubt.
func (c *Client) repeat(ctx context.Context, q call, until time.Time, err error, reply any) (earlier, _ error) {
	doubts := 0 // tries that no server has answered for certain
	shut := 0   // tries in a row that were shut out
	for pause := retryPauseMin; ; pause = min(2*pause, retryPauseMax) {
		if !c.isShut(ctx, err) {
			shut = 0
		} else if shut++; shut >= shutMax && doubts == 0 {
			return nil, c.shut()
		}
		// One try without an answer leaves the whole request in doubt, whatever later tries say.
		if fateOf(err) == unclear {
			doubts++
			if changes(q.verb) && !saysUnchanged(err) {
				earlier = err
			}
			c.look(ctx)
		}
		if !sleep(ctx, pause) {
			return earlier, gaveUp(ctx, q.verb, err, doubts > 0)
		}
		if err = c.try(ctx, q, until, doubts, reply); !c.mayRepeat(q, err, earlier) {
			return earlier, inDoubt(err, earlier)
		}
	}
}

// mayRepeat reports whether a request is sent again after a try that got err; earlier is what a try got before that may have taken
// effect, or nil. With such a try the request is repeated also after a refusal for its rate, because only a later answer can
// say what became of it.
func (c *Client) mayRepeat(q call, err, earlier error) bool {
	if c.opts.NoRetry || c.opts.Standby && errors.Is(err, CodeNotLeader) { // every standby would refuse it
		return false
	}
	if earlier != nil && errors.Is(err, CodeRateLimited) {
		return true
	}
	of := fateOf(err)
	return of == undone || of == unclear && q.repeatable
}

// try sends a request once, after so many tries that may have taken effect. The request as a whole ends at until.
func (c *Client) try(ctx context.Context, q call, until time.Time, doubts int, reply any) error {
	if q.repeatable && !c.opts.NoRetry {
		if own := time.Now().Add(c.tryTime(q, doubts)); own.Before(until) {
			until = own
		}
	}
	ctx, cancel := context.WithDeadline(ctx, until)
	defer cancel()
	return c.exchangeOnce(ctx, q.verb, q.body, reply)
}

// tryTime returns how long a try waits for its answer. In a cluster of several shards a node may hang while the others
// answer, so the first try is short there, and each further one longer: a busy leader may be about to answer.
func (c *Client) tryTime(q call, doubts int) time.Duration {
	if !c.aim.isKnown() || doubts >= len(tryParts) {
		return q.tryTimeout
	}
	return q.tryTimeout / tryParts[doubts]
}

// tryParts are the parts of its time that the first tries of a request have.
var tryParts = [...]time.Duration{5, 3, 2}

// sleep waits for the pause, and reports whether the context has not ended. It returns early when the context ends,
// so that a call never outlives its deadline by a pause.
func sleep(ctx context.Context, pause time.Duration) bool {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}

// gaveUp returns the error of a request of a verb whose time is over. If an earlier try may have taken effect, the
// outcome is unknown, even if the last try reached no server.
func gaveUp(ctx context.Context, verb string, last error, doubt bool) error {
	e := &Error{Code: CodeUnavailable, Status: http.StatusServiceUnavailable}
	e.Cause = fmt.Errorf("%w; the last try: %w", ctx.Err(), last)
	isCancelled := errors.Is(ctx.Err(), context.Canceled)
	switch {
	case isCancelled && !doubt:
		e.Message = "cancelled before a leader answered; nothing was done"
	case isCancelled:
		e.Message = noAnswer(ctx.Err()) + doubtOf(changes(verb))
	case doubt:
		e.Message = "no answer in time" + doubtOf(changes(verb))
	default:
		e.Message = "no leader answered in time; nothing was done"
	}
	return e
}
