package core

import (
	"fmt"
	"testing"
	"time"

	"github.com/carillon-io/carillon/instant"
	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/schedule"
)

// oneCatchUp is more than what one job with the most missed ticks costs, of the dearest schedule below.
const oneCatchUp = 60 * job.CatchupRunsMax

// TestStepEffort: 1,024 jobs that tick each second and fire all they missed come back after fifty minutes. No step
// spends more on schedules than the bound and one job, and together they find the newest thousand ticks of each.
func TestStepEffort(t *testing.T) {
	for _, spec := range []job.Definition{
		{},
		{Timezone: "America/New_York"},
		{Timezone: "America/New_York", Exclude: []string{"* * 3 * * *", "0 30 * * * *"}},
	} {
		t.Run(fmt.Sprintf("zone=%s/exclusions=%d", spec.Timezone, len(spec.Exclude)), func(t *testing.T) {
			h := newHerd(t)
			h.core.decisionsMax = DecisionsMax
			h.core.settings.Grace = time.Second
			for i := range 1024 {
				h.putEager(fmt.Sprint("job", i), spec)
			}
			h.now += 50 * 60_000
			worst, steps := 0, 0
			for ; steps == 0 || h.core.late.Len() > 0; steps++ {
				began := time.Now()
				h.step()
				if spent := h.core.profiles.meter.spent; spent > worst {
					worst = spent
					t.Logf("step %d: %d units in %s", steps, spent, time.Since(began).Round(time.Millisecond))
				}
				h.now++
			}
			if worst > effortMax+oneCatchUp || steps < 10 {
				t.Errorf("the dearest of %d steps spent %d, want at most %d", steps, worst, effortMax+oneCatchUp)
			}
			if n := h.core.debts.ticks + int(h.core.counts.Fired); n < 1024*job.CatchupRunsMax {
				t.Errorf("%d runs are fired or owed, want at least %d", n, 1024*job.CatchupRunsMax)
			}
		})
	}
}

// putEager registers a job that ticks each second and fires all it missed.
func (h *herd) putEager(name string, spec job.Definition) {
	def := oneShotOf(name)
	def.Schedule, def.Timezone, def.Exclude = "* * * * * *", spec.Timezone, spec.Exclude
	def.Missed, def.MaxCatchupRuns, def.CatchupWindow = job.MissedBackfill, job.CatchupRunsMax, 24*time.Hour
	s, err := schedule.Parse(def.Spec())
	if err != nil {
		h.t.Fatal(err)
	}
	h.step(&Put{
		Tenant: def.Tenant, Name: name, Hash: h.hasher.hash(def.Tenant, name),
		Definition: job.EncodeDefinition(def), Profile: job.ProfileOf(def, s), Schedule: s,
	})
}

// TestNewestTicks compares the walk forward with steps back, over schedules with bursts and long breaks.
func TestNewestTicks(t *testing.T) {
	last := instant.Of(time.Date(2026, 3, 29, 12, 0, 0, 0, time.UTC))
	for _, spec := range []schedule.Spec{
		{Expr: "* * * * * *"}, {Expr: "*/7 * * * *", Zone: "Europe/Berlin"}, {Expr: "* * 3 1 * *"}, {Expr: "0 0 29 2 *"},
		{Expr: "0 12 * * *\n* * 4 * * 0"}, {Expr: "@every 250ms"}, {Expr: "* * 1-5 * * *", Exclude: "* * * * * 1-5", Zone: "Asia/Tokyo"},
	} {
		s, err := schedule.Parse(spec)
		if err != nil {
			t.Fatal(err)
		}
		low := last.Add(-400 * 24 * time.Hour)
		e, r := &profileEntry{schedule: s, meter: &effort{}}, &hotRow{cursor: low}
		end, _ := e.latest(r, low-1, last)
		for _, most := range []uint32{1, 2, 3, 10, 77, 1000} {
			want, n := end, uint32(1)
			for at, ok := e.latest(r, low-1, end-1); ok && n < most; at, ok = e.latest(r, low-1, at-1) {
				want, n = at, n+1
			}
			var scratch []instant.Millis
			if got, k := e.newest(r, low, end, most, &scratch); got != want || k != n {
				t.Errorf("%q: the newest %d are %d from %s, want %d from %s", spec.Expr, most, k, got, n, want)
			}
		}
	}
}
