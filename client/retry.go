package client

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/nats-io/nats.go"
)

// The pauses before a request is sent again: each is twice the one before, up to the longest.
const (
	retryPauseMin = 20 * time.Millisecond
	retryPauseMax = 250 * time.Millisecond
)

// How long a request that may be repeated waits for its answer before it is sent again: the leader that
// got it may be gone. A bulk registration takes the server longer.
const (
	tryTimeout     = 5 * time.Second
	bulkTryTimeout = 25 * time.Second
)

// onceVerbs do something else, or something more, when they are done again. All other verbs may be
// repeated although it is unknown whether they took effect; see [isRepeatable].
var onceVerbs = map[string]bool{
	"jobs.delete":      true, // the second finds no job, or one that was put meanwhile
	"calendars.delete": true,
	"jobs.backfill":    true, // with repeat, it starts the runs again
	"runs.retry":       true, // a run that died again would begin once more
	"runs.retry_many":  true,
}

// isRepeatable tells whether a request may be done twice.
func isRepeatable(verb string, request any) bool {
	switch r := request.(type) {
	case PutRequest:
		return r.IfVersion == nil // the second would meet the version that the first made
	case PauseRequest:
		return r.IfVersion == nil
	case TriggerRequest:
		return r.IdempotencyKey != ""
	}
	return !onceVerbs[verb]
}

// fate is what an error says of the request that met it.
type fate uint8

const (
	settled fate = iota // answered for good, or nothing is gained by asking again
	undone              // nobody carried it out
	unclear             // carried out or not
)

func fateOf(err error) fate {
	e, ok := errors.AsType[*Error](err)
	switch {
	case !ok:
		return settled
	case e.Code == CodeNotLeader, errors.Is(e.Cause, nats.ErrNoResponders), errors.Is(e.Cause, nats.ErrReconnectBufExceeded):
		return undone
	case e.Code == CodeUnavailable && (e.Cause == nil || errors.Is(e.Cause, context.DeadlineExceeded)):
		return unclear
	}
	return settled
}

// call is an encoded request.
type call struct {
	verb       string
	body       []byte
	repeatable bool
	timeout    time.Duration // if the context has no deadline
	tryTimeout time.Duration // of each try of a request that may be repeated
}

// exchange sends a request and decodes its reply. It sends it again as the package comment says.
func (c *Client) exchange(ctx context.Context, q call, reply any) error {
	if _, ok := ctx.Deadline(); !ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, q.timeout)
		defer cancel()
	}
	doubt := false // an earlier try may have taken effect
	for pause := retryPauseMin; ; pause = min(2*pause, retryPauseMax) {
		err := c.try(ctx, q, reply)
		of := fateOf(err)
		again := of == undone || of == unclear && q.repeatable
		refused := c.opts.Standby && errors.Is(err, CodeNotLeader) // every standby will
		if c.opts.NoRetry || !again || refused {
			return err
		}
		doubt = doubt || of == unclear
		if !sleep(ctx, pause) {
			return gaveUp(ctx, err, doubt)
		}
	}
}

// try sends a request once.
func (c *Client) try(ctx context.Context, q call, reply any) error {
	if q.repeatable && !c.opts.NoRetry {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, q.tryTimeout)
		defer cancel()
	}
	return c.exchangeOnce(ctx, q.verb, q.body, reply)
}

// sleep waits, and tells whether the context has time left after it.
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

// gaveUp returns the error of a request whose time is over. What an earlier try left in doubt, a later
// one that reached nobody does not settle.
func gaveUp(ctx context.Context, last error, doubt bool) error {
	e := &Error{Code: CodeUnavailable, Status: http.StatusServiceUnavailable}
	e.Cause = fmt.Errorf("%w; the last try: %w", ctx.Err(), last)
	e.Message = "no leader answered in time; nothing was done"
	if doubt {
		e.Message = "no answer in time; whether the request took effect is unknown"
	}
	return e
}
