package scheduler

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/carillon-io/carillon/instant"
	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/scheduler/core"
	"github.com/carillon-io/carillon/scheduler/pad"
)

// sim drives a real engine in virtual time, on one goroutine: it makes the loop's steps, the feeder's
// reads and the tick's launches itself, in a fixed order. What happens is written down as it happens.
type sim struct {
	Boundless
	t      testing.TB
	opts   Options
	engine *Engine
	gather gathering
	store  *memStore
	log    *memLog
	now    time.Time
	target map[string]string // by job: "ok", "hang", or an error text
	flying map[string][]flight
	given  map[string]*job.Delivery // last launch of a job
	events []string
	left   []job.RunID // that were launched
	most   int         // decisions of a step; 0: as many as ever
	rounds int         // of settle; 0: until nothing is left to do
	pad    *pad.Manual
	other  *standby // nil: none

	distrust bool        // nothing may leave
	quotas   *Quotas     // nil: none
	bounds   *listBounds // of lists; nil: the usual ones
}

func newSim(t testing.TB, start time.Time, settings Settings) *sim {
	s := &sim{given: make(map[string]*job.Delivery), t: t, store: newMemStore(), log: &memLog{}, now: start, target: make(map[string]string)}
	s.opts = Options{
		Log: s.log, Store: s.store, Sender: s, Clock: s, Settings: settings, Trust: s.trust, Quotas: func() *Quotas { return s.quotas },
		Logger: slog.New(slog.NewTextHandler(io.Discard, nil)),
	}
	var b job.Batch
	b.PutMeta(core.MetaNextID, 1<<20|1) // or they would begin at a random place
	if err := s.store.Apply(job.Position{}, b.Bytes()); err != nil {
		t.Fatal(err)
	}
	s.open()
	return s
}

// tenantOf returns the tenant of a job in a story: what its name has before a slash.
func tenantOf(name string) string {
	if tenant, _, ok := strings.Cut(name, "/"); ok {
		return tenant
	}
	return "default"
}

// Now implements Clock.
func (s *sim) Now() time.Time { return s.now }

func (s *sim) open() {
	e, err := Open(s.opts)
	if err != nil {
		s.t.Fatal(err)
	}
	s.run(e)
}

// run lets an engine that leads be the engine of the sim.
func (s *sim) run(e *Engine) {
	s.t.Cleanup(func() { _ = e.pad.Disarm() })
	s.flying = make(map[string][]flight)
	s.engine = e
	if s.most > 0 {
		e.core.Limit(core.Limits{Decisions: s.most})
	}
	if s.bounds != nil {
		e.lists = *s.bounds
	}
	s.pad = e.pad.DriveManually()
	s.gather = gathering{engine: e, taken: make(map[job.ID]struct{})}
	s.step()
}

// crash loses everything but the store, and starts again.
func (s *sim) crash() {
	s.note("crash")
	s.open()
}

// propose makes one step with some proposals and settles what follows from it.
func (s *sim) propose(proposals ...core.Proposal) {
	s.proposeOnly(proposals...)
	s.settle()
}

// proposePut proposes a registration as Engine.Put does: first as if the name were free, then from the rows.
func (s *sim) proposePut(p *core.Put) {
	s.propose(p)
	if p.Err != core.ErrStale {
		return
	}
	if p.Err = s.engine.readPrior(p); p.Err == nil {
		s.propose(p)
	}
}

func (s *sim) proposeOnly(proposals ...core.Proposal) {
	s.begin()
	for _, p := range proposals {
		s.gather.add(newTicket(p))
	}
	s.finish()
	for s.gather.isWaiting() {
		s.step()
	}
}

func (s *sim) begin() { s.gather.reset() }

func (s *sim) finish() {
	if err := s.engine.stepOnce(&s.gather); err != nil {
		s.note("failed: %v", err)
	}
}

func (s *sim) step() { s.begin(); s.finish() }

// settle runs feeder, tick and loop until nothing is left to do at this instant, or for s.rounds.
func (s *sim) settle() {
	for i := range 10_000 {
		if s.rounds > 0 && i == s.rounds {
			return
		}
		s.doHousekeeping()
		read := s.pad.Take(instant.Of(s.now))
		s.pad.Read(read)
		left, more := s.pad.Launch(instant.Of(s.now))
		outcomes := s.engine.outcomes.some()
		due := s.gather.wakeAt != 0 && s.gather.wakeAt <= instant.Of(s.now)
		if outcomes || due {
			s.step()
		}
		if read == 0 && left == 0 && !more && !outcomes && !due && !s.pad.Wants() {
			return
		}
	}
	s.t.Fatal("the engine does not come to rest")
}

// doHousekeeping does what goroutines beside the loop would: it pauses jobs that fail, and deletes those whose retention
// is over.
func (s *sim) doHousekeeping() {
	for {
		select {
		case first := <-s.engine.housekeeping.reaps:
			p := new(core.ReapJobs)
			for _, r := range s.engine.housekeeping.moreReaps(first) {
				p.Items = append(p.Items, s.engine.judge(r))
			}
			s.proposeOnly(p)
		case <-s.engine.housekeeping.pauses.ready:
			a, _ := s.engine.housekeeping.pauses.next()
			rec, _, ok, err := s.engine.readRows(a.ID)
			if err != nil || !ok {
				continue
			}
			s.proposeOnly(&core.Pause{
				Tenant: rec.Def.Tenant, Name: rec.Def.Name, Hash: s.hash(rec.Def.Name), Actor: job.ActorEngine, Reason: a.Reason, IfFailing: true,
			})
		case <-s.engine.housekeeping.replan:
			for p := (&core.Replan{From: 1}); p.From != 0; p = (&core.Replan{From: p.Next}) {
				s.proposeOnly(p)
			}
		default:
			return
		}
	}
}

// advance moves the clock to an instant, stopping wherever something is due.
func (s *sim) advance(d time.Duration) {
	end := s.now.Add(d)
	for {
		s.settle()
		next := end
		for _, at := range []instant.Millis{s.gather.wakeAt, s.engine.pad.NextDue(), s.engine.pad.NextLater()} {
			if at != 0 && at.Time().After(s.now) && at.Time().Before(next) {
				next = at.Time()
			}
		}
		if !next.After(s.now) {
			return
		}
		s.now = next
	}
}

func (s *sim) note(format string, args ...any) {
	s.events = append(s.events, fmt.Sprintf("%s ", clock(instant.Of(s.now)))+fmt.Sprintf(format, args...))
}

// drain returns what happened since the last call.
func (s *sim) drain() string {
	out := strings.Join(s.events, "\n")
	s.events = nil
	if out == "" {
		return "nothing"
	}
	return out
}

// ledger lists all runs of a job, oldest first.
func (s *sim) ledger(name string) string {
	page, err := s.engine.Runs(context.Background(), RunQuery{Tenant: tenantOf(name), Job: name, Limit: PageMax})
	if err != nil {
		return err.Error()
	}
	runs := page.Runs
	sort.SliceStable(runs, func(i, j int) bool { return newer(runs[j].ID, runs[i].ID) })
	var b strings.Builder
	for _, r := range runs {
		fmt.Fprintf(&b, "%s%s %s", clock(r.ID.At), seq(r.ID), r.Status)
		if r.Reason != 0 {
			fmt.Fprintf(&b, " (%s)", r.Reason)
		}
		if r.Until != 0 {
			fmt.Fprintf(&b, " until %s", clock(r.Until))
		}
		if r.Attempt > 1 {
			fmt.Fprintf(&b, " attempt=%d", r.Attempt)
		}
		if r.Error != "" {
			fmt.Fprintf(&b, " error=%q", r.Error)
		}
		b.WriteByte('\n')
	}
	if b.Len() == 0 {
		return "empty\n"
	}
	return b.String()
}

func clock(at instant.Millis) string { return at.Time().Format("15:04:05.000") }

func seq(r job.RunID) string {
	if r.Seq == 0 {
		return ""
	}
	return fmt.Sprintf(" manual=%d", r.Seq)
}

func late(now time.Time, at instant.Millis) string {
	d := now.Sub(at.Time())
	if d == 0 {
		return ""
	}
	return " late=" + d.String()
}
