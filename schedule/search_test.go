package schedule

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/carillon-io/carillon/apierr"
	"github.com/carillon-io/carillon/instant"
	"github.com/carillon-io/carillon/testkit"
)

// costly are schedules that are made to take long: dense to read and sparse to hit. cron excludes day after day by other
// expressions, every meets one excluded range after the other.
var costly = []Spec{
	{Expr: lines(16, "0 0 0 29 2 1#5"), Zone: "America/New_York"},
	{Expr: lines(16, "0 0 29 2 *"), Exclude: "* * * * 0-5"},
	{Expr: lines(16, "0 0 0 29 2 1#5"), Exclude: "2026-01-01/9000-01-01", Zone: "Europe/Berlin"},
	{Expr: "* * * * * *", Exclude: seconds(60)},
	{Expr: "* * * * * *", Exclude: mixed(60)},
	{Expr: "* * * * * *", Exclude: mixed(60) + "\n* * 1-27 * *\n0-58 * * * * *", Zone: "Africa/Casablanca"},
	{Expr: "@every 1h", Exclude: "0 * * * *", Zone: "Europe/Berlin"},
	{Expr: lines(16, "@every 1h"), Exclude: "0 * * * *", Zone: "Asia/Tokyo"},
	{Expr: "CRON_TZ=Asia/Tokyo 0 * * * *\n@every 1h", Exclude: "0 * * * *", Zone: "Europe/Berlin"},
	{Expr: "30 2 * * *\n20 2 * * *\n45 2 * * *", Exclude: "* 0-22 * * *\n*/2 23 * * *", Zone: "America/Havana"},
	{Expr: "0 0 0 1 1 * 2199", Exclude: "0 0 0 1 1 * 2199", Zone: "America/New_York"},
	{Expr: "0 8 * * 6", Exclude: "* * * * 6", Zone: "Australia/Lord_Howe"},
}

// sane are schedules as users write them, with exclusions that leave few ticks.
var sane = []Spec{
	{Expr: "0 0 29 2 *"},
	{Expr: "0 0 29 2 *", Zone: "Europe/Berlin", Exclude: "* * * * 0,6"},
	{Expr: "0 9 * * mon#5", Zone: "America/New_York"},
	{Expr: "0 12 13 * *", Exclude: "* * * * 0-4,6"},
	{Expr: "0 9 * * 1-5", Exclude: "2026-12-24/2026-12-26\n* 12-13 * * *", Zone: "Asia/Kathmandu"},
	{Expr: "@every 10s", Exclude: "* 0-7,18-23 * * *\n* * * * 6,0", Zone: "Europe/Berlin"},
	{Expr: "@every 1h\n0 9 * * *", Exclude: "* 0-7 * * *", Zone: "Asia/Tokyo"},
	{Expr: "CRON_TZ=America/New_York 0 17 * * 1-5\n0 9 * * *", Exclude: "* * * * 0,6\n2026-12-24/2027-01-06", Zone: "Europe/Berlin"},
	{Expr: "0 0 8 1 1 ? 2199"},
	{Expr: "0 0 1 1 *\n0 0 1 4 *\n0 0 1 7 *", Exclude: "* * * * 0,6"},
}

func lines(n int, expr string) string { return strings.TrimSuffix(strings.Repeat(expr+"\n", n), "\n") }

// seconds excludes n seconds of each minute, one a line.
func seconds(n int) string {
	var list []string
	for i := range n {
		list = append(list, fmt.Sprintf("%d * * * * *", i))
	}
	return strings.Join(list, "\n")
}

// mixed excludes a second each on changing days, so that hardly two days have the same exclusions.
func mixed(n int) string {
	var list []string
	for i := range n {
		list = append(list, fmt.Sprintf("%d * * %d-%d * %d#%d", i, 1+i%20, 12+i%20, i%7, 1+i%5))
	}
	return strings.Join(list, "\n")
}

// TestSearchIsBounded searches for ticks of schedules that are made to take long, from many instants: no search takes
// more than the bound and what one expression takes at a time, and each that gives up says so.
func TestSearchIsBounded(t *testing.T) {
	const slack = 1000
	gaveUp := 0
	for _, spec := range costly {
		s, err := Parse(spec)
		if err != nil {
			if !strings.Contains(err.Error(), "leaves no tick") {
				t.Errorf("%+v: %v", spec, err)
			}
			continue
		}
		most := 0
		for year := range 50 {
			at := instant.Of(time.Date(2000+4*year, 3, 1+year%20, year%24, 0, 0, 0, time.UTC))
			var x Search
			if _, ok := s.NextIn(&x, at, at); !ok && x.Err() != nil {
				gaveUp++
				if e := apierr.From(x.Refusal()); e.Code != apierr.InvalidSchedule || !errors.Is(x.Err(), ErrTooLong) {
					t.Errorf("%+v: %v is refused as %v", spec, x.Err(), e)
				}
			}
			most = max(most, x.Steps())
			if x.Steps() > StepsMax+slack {
				t.Errorf("%.60q without %.60q: %d steps", spec.Expr, spec.Exclude, x.Steps())
			}
			x = Search{}
			s.LatestIn(&x, at.Add(-1000*24*time.Hour), at, at)
			if x.Steps() > latestStepsMax+slack {
				t.Errorf("%.60q without %.60q: %d steps for the latest", spec.Expr, spec.Exclude, x.Steps())
			}
		}
		t.Logf("%d steps: %.60q without %.60q", most, spec.Expr, spec.Exclude)
	}
	if gaveUp == 0 {
		t.Error("no search gave up")
	}
}

// TestSaneSchedulesTakeFewSteps: what users write stays far below the bound, also with a calendar of thousands of days.
func TestSaneSchedulesTakeFewSteps(t *testing.T) {
	day := time.Date(2026, 1, 3, 0, 0, 0, 0, time.UTC)
	days := make([][]string, 4)
	for i := range 4000 {
		days[i/1000] = append(days[i/1000], day.AddDate(0, 0, 7*i).Format(time.DateOnly))
	}
	find := func(ref string) ([]string, bool) { return days[ref[len(ref)-1]-'0'], true }
	saturdays := Spec{Expr: "0 8 * * 6", Exclude: "@calendar t/0\n@calendar t/1\n@calendar t/2\n@calendar t/3"}
	for _, spec := range append(sane, saturdays) {
		s, err := ParseWith(spec, find)
		if err != nil {
			t.Errorf("%+v: %v", spec, err)
			continue
		}
		most := 0
		for week := range 2000 {
			at := instant.Of(time.Date(2000, 1, 1+7*week, week%24, 0, 0, 0, time.UTC))
			var x Search
			if _, ok := s.NextIn(&x, at, at); !ok && x.Err() != nil {
				t.Fatalf("%+v after %s: %v", spec, at, x.Err())
			}
			most = max(most, x.Steps())
		}
		t.Logf("%d steps: %.60q without %.60q", most, spec.Expr, spec.Exclude)
		if most > StepsMax/10 {
			t.Errorf("%+v: %d steps of %d", spec, most, StepsMax)
		}
	}
}

// TestSearchEndsWithItsContext gives up a costly search of a requester who is gone, and one of a preview on the way.
func TestSearchEndsWithItsContext(t *testing.T) {
	s, err := Parse(costly[7])
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	x := SearchFor(ctx, 0)
	if _, ok := s.NextIn(x, benchAt, 0); ok || !errors.Is(x.Err(), context.Canceled) || x.Steps() > 0 {
		t.Errorf("%d steps, %v", x.Steps(), x.Err())
	}
	if _, _, err := s.Preview(ctx, benchAt, 0, 10); err == nil || apierr.From(err).Code != apierr.Unavailable {
		t.Errorf("a preview: %v", err)
	}
	late := &lateContext{Context: t.Context(), after: 3}
	x = SearchFor(late, 0)
	if _, ok := s.NextIn(x, benchAt, 0); ok || !errors.Is(x.Err(), context.Canceled) || x.Steps() > 4*pollSteps {
		t.Errorf("a search whose context ends on the way: %d steps, %v", x.Steps(), x.Err())
	}
}

// lateContext is a context that ends after it was asked so many times.
type lateContext struct {
	context.Context
	after int
}

func (c *lateContext) Err() error {
	if c.after--; c.after < 0 {
		return context.Canceled
	}
	return nil
}

// TestPreviewIsBoundedInSteps: a preview of many ticks that are costly to find is refused, and says how many it can be.
func TestPreviewIsBoundedInSteps(t *testing.T) {
	s, err := Parse(Spec{Expr: lines(16, "59 0 0 29 2 *"), Exclude: seconds(50) + "\n* * * * 1-6"})
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = s.Preview(t.Context(), benchAt, 0, PreviewMax)
	if e := apierr.From(err); e == nil || e.Code != apierr.TooLarge || e.Field != "count" {
		t.Errorf("%v", err)
	}
	if times, _, err := s.Preview(t.Context(), benchAt, 0, 3); len(times) != 3 || err != nil {
		t.Errorf("three ticks: %v, %v", times, err)
	}
}

// TestWalkAgreesWithNext lists ticks by a walk and by single searches.
func TestWalkAgreesWithNext(t *testing.T) {
	testkit.NotUnderRace(t, oneAsks)
	for _, spec := range append(sane, costly...) {
		s, err := Parse(spec)
		if err != nil {
			continue
		}
		at, walk := benchAt, s.Walk(benchAt, benchAt)
		for range 300 {
			var x, y Search
			want, ok := s.NextIn(&x, at, benchAt)
			got, some := walk.Next(&y)
			if x.Err() != nil || y.Err() != nil {
				break
			}
			if got != want || some != ok {
				t.Fatalf("%+v after %s: %s, %v; want %s, %v", spec, at, got, some, want, ok)
			}
			if !ok {
				break
			}
			at = want
		}
	}
}

// BenchmarkScheduleSteps counts the steps of one search, and of a preview, beside the time.
func BenchmarkScheduleSteps(b *testing.B) {
	for i, spec := range append(sane, costly...) {
		s, err := Parse(spec)
		if err != nil {
			continue
		}
		b.Run(fmt.Sprintf("costly=%t/spec=%d", i >= len(sane), i%len(sane)), func(b *testing.B) {
			steps := 0
			for range b.N {
				x := SearchFor(b.Context(), PreviewStepsMax)
				walk := s.Walk(benchAt, benchAt)
				for range 100 {
					if _, ok := walk.Next(x); !ok {
						break
					}
				}
				steps += x.Steps()
			}
			b.ReportMetric(float64(steps)/float64(b.N), "steps/op")
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(max(1, steps)), "ns/step")
		})
	}
}
