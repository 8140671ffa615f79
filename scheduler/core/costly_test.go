package core

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/carillon-io/carillon/apierr"
	"github.com/carillon-io/carillon/instant"
	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/schedule"
)

// costlyPut is a put of a job that ticks at ten past, and then by an @every whose ticks are all excluded: the search for
// the tick after the first one takes too many steps. The exclusions are lines of the job, or those of a calendar.
func (h *herd) costlyPut(name string, once instant.Millis, exclude ...string) *Put {
	def := oneShotOf(name)
	def.Schedule, def.Schedules, def.Exclude = "", []string{"@every 1h", "@at " + once.String()}, exclude
	s, err := schedule.ParseWith(def.Spec(), h.core.calendarOf)
	if err != nil {
		h.t.Fatal(err)
	}
	return &Put{
		Tenant: def.Tenant, Name: name, Hash: h.hasher.hash(def.Tenant, name),
		Definition: job.EncodeDefinition(def), Profile: job.ProfileOf(def, s), Schedule: s,
	}
}

// TestJobWhoseNextTickIsTooCostly fires the tick that it has, and fails visibly instead of completing: nobody knows
// whether it has more. A resume says why it cannot go on.
func TestJobWhoseNextTickIsTooCostly(t *testing.T) {
	h := newHerd(t)
	once := h.now + 10*60_000
	p := h.costlyPut("job", once, "0 * * * *")
	if h.step(p); p.Err != nil {
		t.Fatal(p.Err)
	}
	_, r := h.core.find(p.Hash)
	h.now = once
	if launches := h.step(); len(launches) != 1 || launches[0].Run.At != once {
		t.Fatalf("launches at its tick: %+v", launches)
	}
	if !r.flags.Is(job.FlagFailed) || r.flags.Is(job.FlagCompleted) || r.cursor != once+1 || r.timer != 0 {
		t.Fatalf("the job has flags %b and its cursor at %s, want it failed behind its tick", r.flags, r.cursor)
	}
	if h.core.misjudged > 0 {
		t.Error("its decision is larger than was said")
	}
	if err := h.resume("job"); err == nil || apierr.From(err).Code != apierr.InvalidSchedule || !strings.Contains(err.Error(), "steps") {
		t.Errorf("resume: %v", err)
	}
}

// TestPutOfACostlyScheduleIsRefused refuses a job whose first tick takes too many steps to find.
func TestPutOfACostlyScheduleIsRefused(t *testing.T) {
	h := newHerd(t)
	p := h.costlyPut("job", h.now-60_000, "0 * * * *")
	h.step(p)
	if p.Err == nil || apierr.From(p.Err).Code != apierr.InvalidSchedule || !strings.Contains(p.Err.Error(), "want fewer exclusions") {
		t.Errorf("%v", p.Err)
	}
}

// TestCalendarThatMakesAJobCostly changes a calendar so that the next tick of a job cannot be found: the job fails, with
// its cursor where it was. When the calendar changes again, it goes on and has lost no tick.
func TestCalendarThatMakesAJobCostly(t *testing.T) {
	h := newHerd(t)
	h.exclude("30 * * * *")
	p := h.costlyPut("job", h.now-60_000, "@calendar days")
	if h.step(p); p.Err != nil {
		t.Fatal(p.Err)
	}
	_, r := h.core.find(p.Hash)
	next := r.cursor
	h.exclude("0 * * * *")
	h.step(&Replan{From: 1})
	if !r.flags.Is(job.FlagFailed) || r.cursor != next {
		t.Fatalf("the job has flags %b and its cursor at %s, want it failed at %s", r.flags, r.cursor, next)
	}
	h.exclude("30 * * * *")
	h.step(&Replan{From: 1})
	if !r.isActive() || r.cursor != next {
		t.Errorf("the job has flags %b and its cursor at %s, want it active at %s", r.flags, r.cursor, next)
	}
}

// TestCostlyPutsAreShared puts many jobs that are costly to search, while others are due: each step handles a few, and
// decides what is due.
func TestCostlyPutsAreShared(t *testing.T) {
	h := newHerd(t)
	h.core.decisionsMax = DecisionsMax
	h.come("quick", 10)
	h.now += 1000
	var rest []Proposal
	for i := range 50 {
		rest = append(rest, h.costlyPut(fmt.Sprint("job", i), h.now-60_000, "0 * * * *"))
	}
	steps, launches := 0, 0
	for ; len(rest) > 0; steps++ {
		launches += len(h.step(rest...))
		taken := h.core.out.ProposalsTaken
		if most := effortMax/2/(schedule.StepsMax/stepsOfEffort) + 1; taken == 0 || taken > most {
			t.Fatalf("step %d handled %d puts, want 1 to %d", steps, taken, most)
		}
		if rest = rest[taken:]; steps == 0 && launches != 10 {
			t.Errorf("%d of the jobs that were due launched in the first step", launches)
		}
	}
}

// TestCalendarStepCompilesNothing changes a calendar that thousands of different schedules follow: the step itself
// compiles none, and each piece of those that follow as many as its effort allows.
func TestCalendarStepCompilesNothing(t *testing.T) {
	h := newHerd(t)
	h.exclude("* * 25 12 *")
	const jobs = 2000
	for i := range jobs {
		def := oneShotOf(fmt.Sprint("job", i))
		def.Schedule, def.Exclude = fmt.Sprintf("%d %d * * *", i%60, i/60%24), []string{"@calendar days", fmt.Sprintf("%d %d 1 1 *", i%60, i/1440)}
		s := mustDo(schedule.ParseWith(def.Spec(), h.core.calendarOf))
		p := &Put{
			Tenant: def.Tenant, Name: def.Name, Hash: h.hasher.hash(def.Tenant, def.Name),
			Definition: job.EncodeDefinition(def), Profile: job.ProfileOf(def, s), Schedule: s,
		}
		if h.step(p); p.Err != nil {
			t.Fatal(p.Err)
		}
	}
	h.exclude("* * 24-26 12 *")
	if spent := h.core.profiles.meter.spent; spent > 0 {
		t.Errorf("the step of the calendar spent %d", spent)
	}
	pieces := 0
	for from := uint32(1); from != 0; pieces++ {
		p := &Replan{From: from}
		h.step(p)
		if spent := h.core.profiles.meter.spent; spent > effortMax+schedule.StepsMax/stepsOfEffort {
			t.Errorf("a piece spent %d", spent)
		}
		from = p.Next
	}
	if pieces < jobs*compileEffort/effortMax {
		t.Errorf("%d pieces", pieces)
	}
}

// BenchmarkCostlyDecision measures the dearest decision: that of a job whose next tick cannot be found.
func BenchmarkCostlyDecision(b *testing.B) {
	s := mustDo(schedule.Parse(schedule.Spec{Expr: "@every 1h", Exclude: "0 * * * *", Zone: "Europe/Berlin"}))
	e := &profileEntry{schedule: s, meter: &effort{}}
	at := instant.Of(time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC))
	for range b.N {
		e.search(at, at)
	}
	b.ReportMetric(float64(e.meter.spent)/float64(b.N), "effort/op")
}
