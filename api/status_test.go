package api

import (
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/scheduler"
)

// TestStatusIsWhole reads the counts that a status has beside the plain ones.
func TestStatusIsWhole(t *testing.T) {
	st := scheduler.Status{
		Cancelled: 1, Retried: 2, Stale: 3, Reporting: 4, Notices: 5, NoticesLost: 6,
		CatchUp: scheduler.CatchUp{Jobs: 7, Rate: 1000.5, Left: 90*time.Second + 400*time.Microsecond},
	}
	st.SkippedBy[job.ReasonOverlap], st.SkippedBy[job.ReasonWindow] = 8, 9
	got := statusInfo(st, "dev", nil)
	if want := map[string]uint64{"overlap": 8, "window": 9}; !maps.Equal(got.SkippedBy, want) {
		t.Errorf("skipped by %v, want %v", got.SkippedBy, want)
	}
	if want := (client.CatchUp{Jobs: 7, Rate: 1000.5, Left: client.Duration(90 * time.Second)}); got.CatchUp != want {
		t.Errorf("catch up %+v, want %+v", got.CatchUp, want)
	}
	if got.Cancelled != 1 || got.Retried != 2 || got.StaleReports != 3 || got.Reporting != 4 || got.Notices != 5 || got.NoticesLost != 6 {
		t.Errorf("%+v", got)
	}
}

// TestClockWarning: a status warns of a clock that is behind from a second on, and once for all shards, by the one that is
// furthest behind.
func TestClockWarning(t *testing.T) {
	warned := func(behind time.Duration) *client.Status {
		return statusInfo(scheduler.Status{ClockBehind: behind}, "dev", nil)
	}
	if got := warned(999 * time.Millisecond); len(got.Warnings) != 0 || got.ClockBehindMS != 999 {
		t.Errorf("999 ms behind: %v, %q", got.ClockBehindMS, got.Warnings)
	}
	all := &client.Status{SkippedBy: make(map[string]uint64)}
	for _, behind := range []time.Duration{time.Hour - time.Millisecond, 2*time.Hour + 7*time.Second, 0} {
		addStatus(all, warned(behind))
	}
	warnClock(all)
	if len(all.Warnings) != 1 || !strings.HasPrefix(all.Warnings[0], "the clock is 2h0m7s behind the time up to which ticks are decided") {
		t.Errorf("warnings %q", all.Warnings)
	}
}
