package scheduler

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/carillon-io/carillon/apierr"
	"github.com/carillon-io/carillon/instant"
	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/schedule"
)

// costlyDef is a job that ticks once, in an hour, and whose other ticks are all excluded: the next tick but one takes
// too many steps to find.
func costlyDef(name string, once time.Time) *job.Definition {
	def := oneShot(name, 0)
	def.Schedule, def.Schedules = "", []string{"@every 1h", "@at " + instant.Of(once).String()}
	def.Exclude, def.Timezone = []string{"0 * * * *"}, "Europe/Berlin"
	return def
}

// TestPutOfACostlySchedule refuses the put of a schedule whose next tick takes too many steps to find before it is
// proposed, and gives the search up with the request.
func TestPutOfACostlySchedule(t *testing.T) {
	e, _, stop := startEngine(t, &memLog{}, 1)
	defer func() { _ = stop() }()
	_, _, err := e.Put(t.Context(), costlyDef("a", time.Now().Add(-time.Hour).Truncate(time.Hour).Add(10*time.Minute)), nil)
	if err == nil || apierr.From(err).Code != apierr.InvalidSchedule {
		t.Errorf("%v", err)
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := e.Prepare(over, oneShot("b", time.Hour)); err == nil || apierr.From(err).Code != apierr.Unavailable {
		t.Errorf("a request that is over: %v", err)
	}
}

// TestBackfillEndsWithItsRequest goes through a range in which all ticks are excluded.
func TestBackfillEndsWithItsRequest(t *testing.T) {
	s := newSim(t, time.Date(2026, 1, 5, 12, 5, 0, 0, time.UTC), Settings{CompletedRetention: -1})
	def := costlyDef("a", time.Date(2026, 1, 5, 12, 10, 0, 0, time.UTC))
	s.propose(must(s.engine.prepare(def)))
	b := backfilling{engine: s.engine, request: BackfillRequest{From: 1, To: instant.Of(time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC))}}
	x := must(schedule.Parse(def.Spec()))
	if err := b.findTicks(t.Context(), x); err == nil || apierr.From(err).Code != apierr.InvalidSchedule {
		t.Errorf("a range that is too costly: %v", err)
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if err := b.findTicks(over, x); err == nil || apierr.From(err).Code != apierr.Unavailable {
		t.Errorf("a request that is over: %v", err)
	}
}

// TestBulkIsChunkedBySteps: puts that are costly to search come in small tickets, so that others come in between.
func TestBulkIsChunkedBySteps(t *testing.T) {
	items := make([]PutItem, 3*putsInFlight)
	for i := range items {
		items[i].Put = &Put{steps: 1}
	}
	items[1].Put, items[1].Err = nil, fmt.Errorf("refused")
	if n := chunkOf(items); n != putsInFlight {
		t.Errorf("%d cheap puts are a ticket, want %d", n, putsInFlight)
	}
	for i := range items {
		items[i].Put = &Put{steps: schedule.StepsMax}
	}
	if n := chunkOf(items); n != putStepsInFlight/schedule.StepsMax {
		t.Errorf("%d costly puts are a ticket", n)
	}
	items[0].Put.steps = 2 * putStepsInFlight
	if n := chunkOf(items); n != 1 {
		t.Errorf("%d puts are a ticket, the first with more than the bound", n)
	}
}
