package api

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/carillon-io/carillon/apierr"
)

// TestHungLeaderFillsOneLine: requests that wait for a leader that hangs fill the line of its shard. Further ones for that
// shard are refused soon, those for other shards go on, and a place that is given back is taken.
func TestHungLeaderFillsOneLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &router{count: 4, lines: newLines(4)}
		var leaves []func()
		for {
			began := time.Now()
			leave, err := r.enterLine(context.Background(), 1, new(Request))
			if err != nil {
				refusal, ok := errors.AsType[*apierr.Error](err)
				if took := time.Since(began); !ok || refusal.Code != apierr.Unavailable || took != lineWait {
					t.Errorf("the line is full: %v after %s", err, took)
				}
				break
			}
			leaves = append(leaves, leave)
		}
		if len(leaves) != linesMax/4 {
			t.Errorf("%d requests wait, want %d", len(leaves), linesMax/4)
		}
		if _, err := r.enterLine(context.Background(), 2, new(Request)); err != nil {
			t.Errorf("another shard: %v", err)
		}
		go func() {
			time.Sleep(lineWait / 2)
			leaves[0]()
		}()
		if _, err := r.enterLine(context.Background(), 1, new(Request)); err != nil {
			t.Errorf("a place is free: %v", err)
		}
	})
}
