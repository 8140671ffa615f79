package scheduler

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/carillon-io/carillon/apierr"
	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/scheduler/core"
)

// TestCalendarTable: the table of an engine has what its store has after puts, deletions, a restart and a takeover, and the
// number of changes says when to read it again.
func TestCalendarTable(t *testing.T) {
	s := newSim(t, time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC), Settings{})
	s.join()
	put := func(name, day string) {
		s.propose(&core.PutCalendar{Calendar: job.Calendar{Tenant: "t", Name: name, Exclude: []string{day}}})
	}
	var last uint64
	compare := func(what string, want map[string]string) {
		t.Helper()
		all, changes := s.engine.AllCalendars()
		if len(all) != len(want) || changes != s.engine.CalendarChanges() {
			t.Errorf("%s: %d calendars up to change %d, want %d up to %d", what, len(all), changes, len(want), s.engine.CalendarChanges())
		}
		for name, day := range want {
			if cal := all[CalendarName{"t", name}]; cal == nil || !slices.Equal(cal.Exclude, []string{day}) {
				t.Errorf("%s: %s is %+v", what, name, cal)
			}
		}
		if changes == last {
			t.Errorf("%s: the number of changes is still %d", what, changes)
		}
		last = changes
	}
	put("a", "2026-01-06")
	put("b", "2026-01-07")
	compare("two puts", map[string]string{"a": "2026-01-06", "b": "2026-01-07"})
	put("a", "2026-01-08")
	compare("an update", map[string]string{"a": "2026-01-08", "b": "2026-01-07"})
	s.propose(&core.DeleteCalendar{Tenant: "t", Name: "b"})
	compare("a deletion", map[string]string{"a": "2026-01-08"})
	last = 0
	s.crash()
	compare("a restart", map[string]string{"a": "2026-01-08"})
	s.join()
	put("c", "2026-01-09")
	s.propose(&core.DeleteCalendar{Tenant: "t", Name: "a"})
	if err := s.takeOver(); err != nil {
		t.Fatal(err)
	}
	last = 0
	compare("a takeover", map[string]string{"c": "2026-01-09"})
}

// TestCopiesAreMended: a copy is mended only in the version that was compared, is put where there is none, and deleted unless a
// job refers to it; the audit log says that the engine did it.
func TestCopiesAreMended(t *testing.T) {
	s := newSim(t, time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC), Settings{})
	refused := func(what string, err error) {
		t.Helper()
		if err == nil || apierr.From(err).Code != apierr.VersionConflict {
			t.Errorf("%s: %v", what, err)
		}
	}
	mend := func(day string, had uint32) error {
		p := &core.PutCalendar{Calendar: job.Calendar{Tenant: "t", Name: "a", Exclude: []string{day}}, Actor: job.ActorEngine, Detail: calendarDetail, IfVersion: &had}
		s.propose(p)
		return p.Err
	}
	drop := func(had uint32) error {
		p := &core.DeleteCalendar{Tenant: "t", Name: "a", Actor: job.ActorEngine, Detail: calendarDetail, IfVersion: &had}
		s.propose(p)
		return p.Err
	}
	refused("there is none", mend("2026-01-06", 1))
	if err := mend("2026-01-06", 0); err != nil {
		t.Error(err)
	}
	refused("there is one", mend("2026-01-07", 0))
	if err := mend("2026-01-07", 1); err != nil {
		t.Error(err)
	}
	refused("it was put since", mend("2026-01-06", 1))
	refused("it was put since the deletion was decided", drop(1))
	def := quotaDef("t", "t/job", 0)
	def.Exclude = []string{"@calendar a"}
	if err := s.register(def); err != nil {
		t.Fatal(err)
	}
	refused("a job refers to it", drop(2))
	s.propose(&core.Delete{Tenant: "t", Name: "t/job", Hash: s.hash("t/job")})
	if err := drop(2); err != nil {
		t.Error(err)
	}
	refused("it is gone", drop(2))
	page := must(s.engine.Audit(t.Context(), AuditQuery{Tenant: "t", Limit: 10}))
	var all []string
	for _, e := range page.Entries {
		if e.Job == 0 {
			all = append(all, e.Action.String()+" by "+e.Actor.By+", "+e.Detail)
		}
	}
	if got, want := strings.Join(all, "; "), "delete_calendar by carillon, as in shard 0; put_calendar by carillon, as in shard 0; put_calendar by carillon, as in shard 0"; got != want {
		t.Errorf("the audit log has %s", got)
	}
}

// TestCopiesHaveNoQuota: a put as a copy is taken where another one is refused because of the quota.
func TestCopiesHaveNoQuota(t *testing.T) {
	s := newSim(t, time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC), Settings{})
	for _, test := range []struct {
		name    string
		isCopy  bool
		refused bool
	}{{"a", false, false}, {"b", false, true}, {"b", true, false}, {"c", true, false}, {"d", false, true}, {"c", false, false}} {
		p := &core.PutCalendar{Calendar: job.Calendar{Tenant: "t", Name: test.name, Exclude: []string{"2026-01-06"}}, Most: 1, IsCopy: test.isCopy}
		s.propose(p)
		if isRefused := p.Err != nil && apierr.From(p.Err).Code == apierr.QuotaExceeded; isRefused != test.refused || p.Err != nil && !isRefused {
			t.Errorf("%s, a copy: %v: %v", test.name, test.isCopy, p.Err)
		}
	}
	if ctx := t.Context(); isCopy(ctx) || !isCopy(AsCopy(ctx)) {
		t.Error("the context does not say what is a copy")
	}
}
