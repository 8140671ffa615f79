package core

import (
	"fmt"
	"slices"
	"testing"

	"github.com/carillon-io/carillon/apierr"
	"github.com/carillon-io/carillon/instant"
	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/scheduler/pad"
)

// end reports that launches succeeded.
func (h *herd) end(launches []pad.Launch) []pad.Launch {
	var outcomes []job.Outcome
	for _, l := range launches {
		outcomes = append(outcomes, job.Outcome{Run: l.Run, Attempt: l.Attempt, LaunchedAt: h.now.Time()})
	}
	return h.stepWith(outcomes)
}

func (h *herd) trigger(tenant, name string) error {
	p := &Trigger{Tenant: tenant, Name: name, Hash: h.hasher.hash(tenant, name)}
	h.step(p)
	return p.Err
}

// TestLiveShares: a tenant whose runs never end gets four fifths of the room and no more, another fires on time
// beside it, and the ticks that wait keep their order until runs end.
func TestLiveShares(t *testing.T) {
	h := newHerd(t)
	h.core.decisionsMax, h.liveMax = 100, 100
	h.come("herd", 300)
	h.now += 900
	held := slices.Clone(h.step())
	for range 5 {
		h.now += 10
		held = append(held, h.step()...)
	}
	if len(held) != 80 || h.core.backlogged != 220 || wakeOf(h.core) == 1 {
		t.Fatalf("%d runs are live, %d jobs wait, wake at %s; want 80, 220 and no haste", len(held), h.core.backlogged, wakeOf(h.core))
	}
	h.come("other", 3)
	h.now += 900
	others := h.step()
	if len(others) != 3 || h.tenant[others[0].Run.Job] != "other" {
		t.Fatalf("%d launches of %s beside the herd, want the other tenant's 3", len(others), h.tenant[others[0].Run.Job])
	}
	last := held[len(held)-1].Run.Job
	for n := len(held); n < 300; {
		held = slices.Clone(h.end(held))
		if len(held) == 0 {
			t.Fatalf("%d of 300 were launched, and no more are", n)
		}
		for _, l := range held {
			if l.Run.Job <= last {
				t.Fatalf("job %s was launched behind job %s", l.Run.Job, last)
			}
			last = l.Run.Job
		}
		n += len(held)
	}
	if h.core.tenants.find("herd").ticks != len(held) || h.core.shared.count != 0 {
		t.Errorf("%d are counted, and %d wait", h.core.tenants.find("herd").ticks, h.core.shared.count)
	}
}

// TestManualShare: triggers and backfills of one tenant are refused at its share, with a code that says so; ticks,
// and other tenants, have theirs all the same.
func TestManualShare(t *testing.T) {
	h := newHerd(t)
	h.core.settings.ManualMax, h.liveMax = 10, 100
	job1 := h.put("a", "job", "* * * * * *")
	h.put("b", "job", "@at 2030-01-01T00:00:00Z")
	p := &Backfill{Tenant: "a", Name: "job", Hash: job1.Hash, ID: job1.Stamp.ID, Repeat: true}
	for i := range 9 {
		p.At = append(p.At, h.now-instant.Millis(1000*(i+1)))
	}
	if h.step(p); p.Err != nil {
		t.Fatal(p.Err)
	}
	again := &Backfill{Tenant: "a", Name: "job", Hash: p.Hash, ID: p.ID, Repeat: true, At: p.At[:2]}
	h.step(again)
	for name, err := range map[string]error{"backfill": again.Err, "first trigger": h.trigger("a", "job"), "second trigger": h.trigger("a", "job")} {
		if refused := err != nil && apierr.From(err).Code == apierr.QuotaExceeded; refused != (name != "first trigger") {
			t.Errorf("the %s of a tenant with 9 of 10 runs: %v", name, err)
		}
	}
	if err := h.trigger("b", "job"); err != nil {
		t.Errorf("the trigger of another tenant: %v", err)
	}
	h.now += 1000
	if launches := h.step(); len(launches) != 1 || launches[0].Run.IsManual() {
		t.Errorf("%d launches, want the tick of the tenant", len(launches))
	}
}

// TestManualPool: however many tenants start runs by hand, half of the room stays for ticks.
func TestManualPool(t *testing.T) {
	h := newHerd(t)
	h.liveMax = 100
	for i := range 30 {
		tenant := fmt.Sprint("tenant", i)
		h.put(tenant, "job", "@at 2030-01-01T00:00:00Z")
		for range 20 {
			_ = h.trigger(tenant, "job")
		}
	}
	if n := h.core.tenants.manual; n > 50 || n < 40 || n != len(h.core.live) {
		t.Errorf("%d runs by hand are live, %d in all; want at most 50 of 100", n, len(h.core.live))
	}
}
