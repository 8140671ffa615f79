package scheduler

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/carillon-io/carillon/instant"
	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/scheduler/core"
)

// TestFollow lets a standby follow random stories of a leader, over a tail that is held up at times, and
// compares it now and then with a core that is loaded from its store: they must know the same. Now and
// then the standby takes over. A failing seed prints the command that repeats it.
func TestFollow(t *testing.T) {
	eachSeed(t, followStory)
}

// tale is a story that a standby follows.
type tale struct {
	*story
	high instant.Millis // the clock may be set back: what is counted from now counts from here then
}

func followStory(t *testing.T, seed uint64) {
	start := time.Date(2026, 1, 5, 23, 59, 40, 0, time.UTC) // soon a day of the history is pruned
	rng := rand.New(rand.NewPCG(seed, 2))
	s := &tale{story: &story{
		sim: newSim(t, start, Settings{
			CompletedRetention: time.Duration(rng.IntN(3)) * 10 * time.Second, HistoryDays: 1, CatchupRate: []int{0, 3}[rng.IntN(2)],
			Lead: []time.Duration{0, 250 * time.Millisecond, 10 * time.Second}[rng.IntN(3)],
		}),
		rng: rng, final: map[string][]byte{}, ended: map[job.RunID]bool{},
	}}
	if rng.IntN(2) == 0 {
		s.most = 1 + rng.IntN(12)
		s.engine.core.Limit(core.Limits{Decisions: s.most})
	}
	if rng.IntN(2) == 0 {
		s.opts.Announcer = silent{}
		s.opts.Settings.Events = true
		s.crash()
	}
	s.join()
	for n := range 20 + rng.IntN(100) {
		s.actBefore()
		if t.Failed() {
			break
		}
		if rng.IntN(4) == 0 {
			s.compare(false)
		}
		if t.Failed() {
			t.Logf("after %d acts", n+1)
			break
		}
	}
	if !t.Failed() {
		s.compare(true)
	}
	if t.Failed() {
		for _, a := range s.acts {
			t.Log(a)
		}
	}
}

// silent is an Announcer that takes nothing.
type silent struct{}

// Announce implements Announcer.
func (silent) Announce(context.Context, []job.Announcement) (int, error) { return 0, nil }

// compare loads a core from the store of the standby, and compares.
func (s *tale) compare(arms bool) {
	s.catchUp()
	followed := s.other.engine.core
	loaded := core.New(followed.Inspect().Settings, s.high)
	if err := loaded.Load(s.other.store, s.other.engine.hasher); err != nil {
		s.t.Fatal(err)
	}
	if err := followed.Check(); err != nil {
		s.t.Error(err)
	}
	if diff := core.Diff(followed, loaded, arms); diff != "" {
		s.t.Errorf("at %s, commit %d: %s", clock(instant.Of(s.now)), s.other.store.Applied().LSN, diff)
	}
	st := s.other.engine.Status()
	if st.Role != "standby" || st.LSN != s.store.Applied().LSN || st.AppliedLSN != st.LSN || st.Jobs != loaded.Reading().Jobs || st.Live != loaded.Live() {
		s.t.Errorf("status %+v", st)
	}
}

// actBefore does what only these stories do, or what all do.
func (s *tale) actBefore() {
	name := storyJob(s.rng.IntN(6))
	note := func(format string, args ...any) {
		s.acts = append(s.acts, fmt.Sprintf("%s %s", clock(instant.Of(s.now)), fmt.Sprintf(format, args...)))
	}
	switch n := s.rng.IntN(100); {
	case n < 4:
		note("the tail is held up: %t", !s.other.held)
		if s.other.held = !s.other.held; !s.other.held {
			s.catchUp()
		}
	case n < 8:
		note("takeover")
		if err := s.takeOver(); err != nil {
			s.t.Error(err)
		}
	case n < 11:
		note("backfill %s", name)
		p := &core.Backfill{Tenant: tenantOf(name), Name: name, Hash: s.hash(name), Repeat: true}
		p.ID = s.engine.core.IDOf(p.Hash)
		for i := range 1 + s.rng.IntN(4) {
			p.At = append(p.At, instant.Of(s.now.Add(-time.Duration(10-i)*time.Second)))
		}
		s.propose(p)
	case n < 14:
		note("retry dead")
		s.retryDead(tenantOf(name))
	case n < 18:
		note("calendar")
		s.changeCalendar(tenantOf(name))
	case n < 23:
		def := s.randomDefinition(name)
		def.Schedule, def.Exclude = "*/2 * * * * *", []string{"@calendar " + s.calendarName()}
		note("put %s with %s", name, def.Exclude)
		if s.hasCalendar(def) {
			s.putAny(def)
		}
	case n < 26:
		note("idle")
		s.other.engine.Idle()
	case n < 29:
		note("trigger %s with a key", name)
		s.propose(&core.Trigger{Tenant: tenantOf(name), Name: name, Hash: s.hash(name), Key: fmt.Sprint(n), AsOf: s.store.Applied().LSN})
	case n < 31:
		d := time.Duration(s.rng.IntN(30)) * time.Hour
		note("away for %s", d)
		s.now = s.now.Add(d)
		s.crash()
	case n < 34:
		note("announced")
		s.announce()
	default:
		s.act()
	}
	s.high = max(s.high, instant.Of(s.now))
	s.acts = append(s.acts, s.events...)
	s.events = nil
}

func (s *tale) calendarName() string { return fmt.Sprintf("days-%d", s.rng.IntN(2)) }

func (s *tale) hasCalendar(def *job.Definition) bool {
	_, err := s.engine.Calendar(context.Background(), def.Tenant, def.Exclude[0][len("@calendar "):])
	return err == nil
}

func (s *tale) changeCalendar(tenant string) {
	if s.rng.IntN(4) == 0 {
		s.propose(&core.DeleteCalendar{Tenant: tenant, Name: s.calendarName()})
		return
	}
	cal := job.Calendar{Tenant: tenant, Name: s.calendarName(), Exclude: []string{
		[]string{"2026-01-07", "2026-01-06", "* * * * 1"}[s.rng.IntN(3)],
	}}
	if err := cal.Validate(); err != nil {
		s.t.Error(err)
		return
	}
	s.propose(&core.PutCalendar{Calendar: cal})
}

// retryDead retries or dismisses what is dead of a tenant, as Engine.RetryDead and DismissDead do.
func (s *tale) retryDead(tenant string) {
	page, err := s.engine.Runs(context.Background(), RunQuery{Tenant: tenant, Status: job.StatusDead, Limit: 3})
	if err != nil {
		s.t.Error(err)
		return
	}
	for _, r := range page.Runs {
		if d := (&core.DismissRun{Tenant: tenant}); s.rng.IntN(3) == 0 && s.engine.readDismissal(context.Background(), d, r.ID) == nil {
			s.propose(d)
			continue
		}
		p := &core.RetryRun{Tenant: tenant}
		if err := s.engine.readRetry(context.Background(), p, r.ID); err != nil {
			continue
		}
		s.propose(p)
	}
}

// announce drops some notices of the outbox, as if the world had them.
func (s *tale) announce() {
	batch, err := s.engine.readNotices([]byte{byte(job.KindOutbox)})
	if err != nil {
		s.t.Error(err)
	}
	p := &core.Published{}
	for _, a := range slices.Clip(batch[:len(batch)/2]) {
		p.IDs = append(p.IDs, a.ID)
	}
	s.propose(p)
}
