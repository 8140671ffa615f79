package main

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/carillon-io/carillon/client"
)

// TestUntilTaken: a request that a node cannot carry out yet is sent again until its time is over, and no other one.
func TestUntilTaken(t *testing.T) {
	busy, refused, silent := &client.Error{Code: client.CodeUnavailable, Message: "busy"}, &client.Error{Code: client.CodeInvalidField}, &client.Error{Code: client.CodeUnavailable, Cause: errors.New("no responders")}
	for name, c := range map[string]struct {
		replies []error // the last one from then on
		want    error
		asked   int
	}{
		"taken":            {[]error{nil}, nil, 1},
		"taken later":      {[]error{busy, busy, nil}, nil, 3},
		"busy all along":   {[]error{busy}, busy, 20},
		"refused":          {[]error{refused}, refused, 1},
		"busy and refused": {[]error{busy, refused}, refused, 2},
		"no node answers":  {[]error{silent}, silent, 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second-time.Millisecond)
				defer cancel()
				asked := 0
				err := untilTaken(ctx, func() error {
					asked++
					return c.replies[min(asked, len(c.replies))-1]
				})
				if err != c.want || asked != c.asked {
					t.Errorf("%v after %d requests; want %v after %d", err, asked, c.want, c.asked)
				}
			})
		})
	}
}
