package core

import (
	"strings"
	"testing"
	"time"

	"github.com/carillon-io/carillon/apierr"
	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/schedule"
)

// exclude puts the calendar that the job of a test follows.
func (h *herd) exclude(lines ...string) {
	p := &PutCalendar{Calendar: job.Calendar{Tenant: "default", Name: "days", Exclude: lines}}
	if h.step(p); p.Err != nil {
		h.t.Fatal(p.Err)
	}
}

func (h *herd) resume(name string) error {
	p := &Pause{Tenant: "default", Name: name, Hash: h.hasher.hash("default", name), Resume: true}
	h.step(p)
	return p.Err
}

// TestResumeOfAFailedJob: a job whose calendar left everything out has failed. A resume says why it cannot go on,
// as long as that is so, and lets it go on when it can.
func TestResumeOfAFailedJob(t *testing.T) {
	h := newHerd(t)
	h.exclude("* * 3 * *")
	def := oneShotOf("job")
	def.Schedule, def.Exclude, def.CatchupWindow = "* * * * *", []string{"@calendar days"}, time.Hour
	s, err := schedule.ParseWith(def.Spec(), h.core.calendarOf)
	if err != nil {
		t.Fatal(err)
	}
	p := &Put{
		Tenant: def.Tenant, Name: "job", Hash: h.hasher.hash(def.Tenant, "job"),
		Definition: job.EncodeDefinition(def), Profile: job.ProfileOf(def, s), Schedule: s,
	}
	if h.step(p); p.Err != nil {
		t.Fatal(p.Err)
	}
	_, r := h.core.find(p.Hash)
	h.exclude("* * * * *")
	h.now += 60_000
	if h.step(); !r.flags.Is(job.FlagFailed) {
		t.Fatalf("the job has flags %b, want it failed", r.flags)
	}
	if err := h.resume("job"); err == nil || apierr.From(err).Code != apierr.InvalidSchedule || !strings.Contains(err.Error(), "calendar") {
		t.Fatalf("resume of a job that cannot go on: %v", err)
	}
	h.exclude("* * 3 * *")
	h.now += 10 * 60_000
	if err := h.resume("job"); err != nil || r.flags.Is(job.FlagFailed) || r.cursor < h.now-60_000 {
		t.Fatalf("resume of a job that can go on: %v, flags %b, cursor %s", err, r.flags, r.cursor)
	}
	h.step() // the newest of the ticks that it missed
	h.now = r.cursor
	if launches := h.step(); len(launches) != 1 {
		t.Errorf("%d launches at its tick, want 1", len(launches))
	}
}
