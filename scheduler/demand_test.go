package scheduler

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/carillon-io/carillon/apierr"
)

// rivalRounds is how often rivals meet over a job.
const rivalRounds = 25

// TestRivals lets callers change a job at once, each of them counting on the same version of it: exactly one
// of them has his way, the others learn that they came too late, and what the job is then is what the one made.
func TestRivals(t *testing.T) {
	e, _, stop := startEngine(t, &memLog{}, 1)
	defer func() { _ = stop() }()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	version := uint32(1)
	changes := map[string]func(name string) error{
		"pause":  func(name string) error { _, err := e.Pause(ctx, "default", name, "", &version); return err },
		"delete": func(name string) error { _, err := e.Delete(ctx, "default", name, &version); return err },
		"put": func(name string) error {
			_, _, err := e.Put(ctx, oneShot(name, 2*time.Hour), &version)
			return err
		},
	}
	for round := range rivalRounds {
		name := fmt.Sprint("wanted/", round)
		if _, _, err := e.Put(ctx, oneShot(name, time.Hour), nil); err != nil {
			t.Fatal(err)
		}
		won := compete(t, changes, name)
		if len(won) != 1 {
			t.Errorf("round %d: %v had their way", round, won)
			continue
		}
		v, err := e.Get(ctx, "default", name)
		switch won[0] {
		case "delete":
			if apierr.From(err).Code != apierr.NotFound {
				t.Errorf("round %d: the job is deleted, and there is %+v, %v", round, v, err)
			}
		default:
			if err != nil || v.Version != 2 || (v.Status == "paused") != (won[0] == "pause") {
				t.Errorf("round %d: after a %s the job is %s at version %d, %v", round, won[0], v.Status, v.Version, err)
			}
		}
	}
}

// compete makes all changes at once, twice each, and returns those that were made.
func compete(t *testing.T, changes map[string]func(string) error, name string) (won []string) {
	var mu sync.Mutex
	var rivals sync.WaitGroup
	begin := make(chan struct{})
	for kind, change := range changes {
		for range 2 {
			rivals.Go(func() {
				<-begin
				err := change(name)
				mu.Lock()
				defer mu.Unlock()
				if err == nil {
					won = append(won, kind)
				} else if e, ok := errors.AsType[*apierr.Error](err); !ok || e.Code != apierr.VersionConflict && e.Code != apierr.NotFound {
					t.Errorf("%s of %s: %v", kind, name, err)
				}
			})
		}
	}
	close(begin)
	rivals.Wait()
	return won
}
