package schedule

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/carillon-io/carillon/apierr"
	"github.com/carillon-io/carillon/instant"
	"github.com/carillon-io/carillon/testkit"
)

// oracleTicks returns the ticks of several expressions, without what is excluded, among moments that
// are one step apart in the job's zone. It looks at every moment and knows nothing of jumps.
func oracleTicks(t *testing.T, exprs, excludes []string, moments []moment, step int64) []instant.Millis {
	t.Helper()
	at := map[instant.Millis]bool{}
	for _, expr := range exprs {
		for _, tick := range oracleTicksOf(t, expr, moments, step) {
			at[tick] = true
		}
	}
	var ticks []instant.Millis
	for _, m := range moments[1:] {
		if tick := instant.Millis(m.instant * 1000); at[tick] && !oracleExcludes(excludes, tick, m) {
			ticks = append(ticks, tick)
		}
	}
	return ticks
}

func oracleTicksOf(t *testing.T, expr string, moments []moment, step int64) (ticks []instant.Millis) {
	t.Helper()
	if text, ok := strings.CutPrefix(expr, "@every "); ok {
		interval, err := time.ParseDuration(text)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range moments[1:] {
			if m.instant%int64(interval/time.Second) == 0 {
				ticks = append(ticks, instant.Millis(m.instant*1000))
			}
		}
		return ticks
	}
	if text, ok := strings.CutPrefix(expr, "@at "); ok {
		return []instant.Millis{rfc3339(t, text)}
	}
	if text, ok := strings.CutPrefix(expr, "CRON_TZ="); ok {
		name, rest, _ := strings.Cut(text, " ")
		loc, err := EmbeddedZones().Location(name)
		if err != nil {
			t.Fatal(err)
		}
		elsewhere := make([]moment, len(moments))
		for i, m := range moments {
			elsewhere[i] = lookAt(m.instant, loc)
		}
		return newOracle(rest).ticks(elsewhere, step)
	}
	return newOracle(expr).ticks(moments, step)
}

// oracleExcludes reads each exclusion anew.
func oracleExcludes(excludes []string, at instant.Millis, m moment) bool {
	date := fmt.Sprintf("%04d-%02d-%02d", m.fields[6], m.fields[4], m.fields[3])
	for _, line := range excludes {
		low, high, ranged := strings.Cut(line, "/")
		switch {
		case strings.Contains(line, " "):
			if len(strings.Fields(line)) == 5 {
				line = "* " + line
			}
			if newOracle(line).matches(m) {
				return true
			}
		case ranged && strings.Contains(low, "T"):
			from, _ := time.Parse(time.RFC3339, low)
			to, _ := time.Parse(time.RFC3339, high)
			if now := at.Time(); !now.Before(from) && now.Before(to) {
				return true
			}
		case ranged && date >= low && date <= high, !ranged && date == line:
			return true
		}
	}
	return false
}

// excludedCrons are left out in the sweep: times that changes touch and times next to them, whole hours and
// days, single seconds and minutes.
var excludedCrons = []string{
	"* 2 * * *", "* 3 * * *", "* 0 * * *", "30 * * * *", "*/2 * * * *", "* * * * 0", "* * * * sat,sun", "* * L * *", "0 3 * * *",
	"0 0 2 * * *", "30 30 1 * * *", "* 0-22 * * *", "* 1-3 * * 0#1", "* * 25-31 * *", "1/2 * * * *", "* * * * * * 2020-2030", "* 1,2 * * 0L",
}

// manyExprs stand beside those of sweepExprs in the sweep.
var manyExprs = []string{
	"@every 1h", "@every 7m", "@every 86400s", "CRON_TZ=UTC 30 * * * *", "CRON_TZ=Asia/Tokyo 0 8 * * 1-5",
	"CRON_TZ=Australia/Lord_Howe 15 2 * * *", "CRON_TZ=America/New_York */10 1,2 * * *",
}

// randomExclude writes an exclusion that concerns the days around an instant.
func randomExclude(rng *rand.Rand, loc *time.Location, around int64) string {
	day := func() string {
		return time.Unix(around+86400*int64(rng.IntN(5)-2), 0).In(loc).Format(time.DateOnly)
	}
	at := func() string {
		return time.Unix(around+int64(rng.IntN(40*3600))-20*3600, int64(rng.IntN(2)*500_000_000)).In(loc).Format(time.RFC3339Nano)
	}
	switch rng.IntN(6) {
	case 0:
		return day()
	case 1:
		a, b := day(), day()
		return min(a, b) + "/" + max(a, b)
	case 2:
		a, b := at(), at()
		if x, _ := time.Parse(time.RFC3339, a); true {
			if y, _ := time.Parse(time.RFC3339, b); y.Before(x) {
				a, b = b, a
			}
		}
		return a + "/" + b
	}
	return excludedCrons[rng.IntN(len(excludedCrons))]
}

func pickSome(rng *rand.Rand, most int, one func() string) (list []string) {
	for range 1 + rng.IntN(most) {
		if item := one(); !slices.Contains(list, item) {
			list = append(list, item)
		}
	}
	return list
}

// checkKeptTicks compares a random job with the oracle over one window, and reports whether the job was
// one that is accepted.
func checkKeptTicks(t *testing.T, rng *rand.Rand, zone string, loc *time.Location, moments []moment) bool {
	t.Helper()
	middle := moments[len(moments)/2].instant
	exprs := pickSome(rng, 3, func() string {
		if rng.IntN(4) == 0 {
			return manyExprs[rng.IntN(len(manyExprs))]
		}
		return sweepExprs[rng.IntN(len(sweepExprs))]
	})
	excludes := pickSome(rng, 4, func() string { return randomExclude(rng, loc, middle) })
	if rng.IntN(5) == 0 {
		excludes = nil
	}
	if len(exprs) == 1 && strings.HasPrefix(exprs[0], "CRON_TZ") {
		return false // would move the exclusions to its own zone
	}
	return compareKept(t, rng, exprs, excludes, zone, moments, 60)
}

// compareKept compares one job with the oracle.
func compareKept(t *testing.T, rng *rand.Rand, exprs, excludes []string, zone string, moments []moment, step int64) bool {
	t.Helper()
	spec := Spec{Expr: strings.Join(exprs, "\n"), Zone: zone, Exclude: strings.Join(excludes, "\n")}
	s, err := Parse(spec)
	if err != nil {
		e := apierr.From(err)
		if ticks := oracleTicks(t, exprs, excludes, moments, step); e.Field != "exclude" || !strings.Contains(e.Message, "leaves no tick") || len(ticks) > 0 {
			t.Errorf("%+v: %v; the oracle has %d ticks", spec, err, len(ticks))
		}
		return false
	}
	again, err := Parse(s.Spec())
	if err != nil || again.Spec() != s.Spec() {
		t.Errorf("%+v: canonical %+v parses to %v, %v", spec, s.Spec(), again, err)
		return false
	}
	start, end := instant.Millis(moments[0].instant*1000), instant.Millis(moments[len(moments)-1].instant*1000)
	want := oracleTicks(t, exprs, excludes, moments, step)
	var got []instant.Millis
	for at := start; ; {
		tick, ok := again.Next(at, 0)
		if !ok || tick > end {
			break
		}
		got = append(got, tick)
		at = tick
	}
	if !slices.Equal(got, want) {
		t.Errorf("%+v after %s:\n got %s\nwant %s", spec, start, got, want)
		return false
	}
	for range 3 {
		checkPoint(t, rng, s, want, start, end)
	}
	return true
}

// TestKeptTicksAgreeWithOracle joins and leaves out at random around the changes of all zones.
func TestKeptTicksAgreeWithOracle(t *testing.T) {
	testkit.NotUnderRace(t, oneAsks)
	rng := seeded(t)
	names := zoneNames(t)
	rounds, accepted := 120, 0
	switch {
	case *scheduleFull:
		rounds = 5000
	case testing.Short():
		rounds = 40
	}
	for range rounds {
		name := names[rng.IntN(len(names))]
		if rng.IntN(3) == 0 {
			name = oddChanges[rng.IntN(len(oddChanges))].zone
		}
		loc, err := EmbeddedZones().Location(name)
		if err != nil {
			t.Fatal(err)
		}
		year := 2020 + rng.IntN(20)
		changes := changesOf(loc, time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(year+1, 1, 1, 0, 0, 0, 0, time.UTC))
		around := time.Date(year, time.Month(1+rng.IntN(12)), 1, rng.IntN(24), 0, 0, 0, time.UTC).Unix()
		if len(changes) > 0 {
			around = changes[rng.IntN(len(changes))]
		}
		moments := window(loc, around, 26*3600, 50*3600, 60)
		for range 8 {
			if checkKeptTicks(t, rng, name, loc, moments) {
				accepted++
			}
		}
		if t.Failed() {
			return
		}
	}
	if accepted < rounds*3 {
		t.Errorf("only %d jobs of %d were accepted", accepted, rounds*8)
	}
}

// TestKeptTicksAtOddChanges does the same at the changes that have broken schedulers.
func TestKeptTicksAtOddChanges(t *testing.T) {
	testkit.NotUnderRace(t, oneAsks)
	for i, odd := range oddChanges {
		t.Run(odd.zone+"/"+strconv.Itoa(i), func(t *testing.T) {
			t.Parallel()
			rng := seeded(t)
			loc, err := EmbeddedZones().Location(odd.zone)
			if err != nil {
				t.Fatal(err)
			}
			for _, change := range changesOf(loc, rfc3339(t, odd.from+"T00:00:00Z").Time(), rfc3339(t, odd.to+"T00:00:00Z").Time()) {
				moments := window(loc, change, 50*3600, 74*3600, 60)
				for range 6 {
					checkKeptTicks(t, rng, odd.zone, loc, moments)
				}
			}
		})
	}
}

// TestKeptSecondsAgreeWithOracle looks at every second around some changes.
func TestKeptSecondsAgreeWithOracle(t *testing.T) {
	testkit.NotUnderRace(t, oneAsks)
	rng := seeded(t)
	exprs := []string{
		"@every 7s", "*/10 30 2 * * *", "*/7 * * * * *", "59 59 * * * *", "CRON_TZ=Asia/Tokyo */13 * * * * *", "15,45 30 1,2 * * *", "@every 61s",
	}
	lines := []string{
		"* 2 * * *", "*/2 * * * *", "30-59 * * * * *", "0 30 2 * * *", "*/2 * * * * *", "* 0-1 * * *", "* * * * 0", "7,9 1/2 * * * *", "2026-03-08", "2026-11-01", "2026-10-04",
	}
	for _, c := range []struct{ zone, change string }{
		{"America/New_York", "2026-03-08T07:00:00Z"},
		{"America/New_York", "2026-11-01T06:00:00Z"},
		{"Australia/Lord_Howe", "2026-10-03T15:30:00Z"},
		{"America/Havana", "2026-11-01T05:00:00Z"},
	} {
		moments := secondsAround(t, c.zone, c.change, 2*3600, 3*3600)
		for range 12 {
			compareKept(t, rng,
				append(pickSome(rng, 2, func() string { return exprs[rng.IntN(len(exprs))] }), "0 0 0 1 1 ?"),
				pickSome(rng, 3, func() string { return lines[rng.IntN(len(lines))] }), c.zone, moments, 1)
		}
	}
}
