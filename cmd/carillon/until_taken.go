package main

import (
	"context"
	"errors"
	"time"

	"github.com/carillon-io/carillon/client"
)

// askedAgain is the time between two requests that a node cannot carry out yet.
const askedAgain = 500 * time.Millisecond

// untilTaken sends a request again and again while a node refuses it and says that a later one may succeed. Nothing has changed
// after such a refusal. It returns the last refusal when ctx ends.
func untilTaken(ctx context.Context, ask func() error) (err error) {
	for {
		last := err
		err = ask()
		if ctx.Err() != nil && last != nil {
			return last
		}
		if !isRefusedForNow(err) {
			return err // it was taken, it cannot be, or no node answers
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(askedAgain):
		}
	}
}

// isRefusedForNow reports whether a node has answered that it cannot carry out a request at the moment.
func isRefusedForNow(err error) bool {
	refused, isError := errors.AsType[*client.Error](err)
	return isError && refused.Code == client.CodeUnavailable && refused.Cause == nil
}
