package schedule

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/carillon-io/carillon/instant"
	"github.com/carillon-io/carillon/testkit"
)

// oneAsks is why the race detector finds nothing in a comparison with the oracle, which is eight times slower under it.
const oneAsks = "one goroutine asks; TestParseConcurrently is about those that share a schedule"

// sweepExprs are asked around every change: wild and fixed, dense and sparse, in the hours that
// changes touch and in hours that they must leave alone.
var sweepExprs = []string{
	"* * * * *", "*/5 * * * *", "30 * * * *", "0 */2 * * *", "*/7 1-3 * * *", "* 2 * * *",
	"30 2 * * *", "0 0 * * *", "30 1 * * *", "15 2 * * *", "0 5 * * *", "59 23 * * *",
	"0,15,30,45 0-23 * * *", "5/20 0,1,2,3 * * *", "0 3 * * sun", "0 6 31 * *", "0 12 1-7 * 5",
	"45 23 28-31 * *", "5 0 */2 * 1-5", "0 0 1 * *", "30 8 30 * *", "20 4-23/3 * * 5-7",
	"0 2 L * *", "30 0 LW * 5L", "15,45 1 1W,15W,31W * *", "*/20 0-3 L-1,L-2 * sun", "0 3 * * 0#1,0L,sat#5",
	"0 30 1 * * ? 2024-2026,2030", "0 */15 * * * * 2025/2",
}

// checkTicks compares a schedule with the oracle over one window.
func checkTicks(t *testing.T, rng *rand.Rand, expr, zone string, moments []moment, step int64) {
	t.Helper()
	s := mustSchedule(t, expr, zone)
	start, end := instant.Millis(moments[0].instant*1000), instant.Millis(moments[len(moments)-1].instant*1000)
	want := newOracle(expr).ticks(moments, step)
	var got []instant.Millis
	for at := start; ; {
		tick, ok := s.Next(at, 0)
		if !ok || tick > end {
			break
		}
		got = append(got, tick)
		at = tick
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q in %s after %s:\n got %s\nwant %s", expr, zone, start, got, want)
		return
	}
	for range 4 {
		checkPoint(t, rng, s, want, start, end)
	}
}

// checkPoint asks for the ticks next to two random instants.
func checkPoint(t *testing.T, rng *rand.Rand, s *Schedule, want []instant.Millis, start, end instant.Millis) {
	t.Helper()
	low := start + instant.Millis(rng.Int64N(int64(end-start)))
	high := low + instant.Millis(rng.Int64N(int64(end-low)+1))
	if len(want) > 0 && rng.IntN(2) == 0 {
		low = max(start, want[rng.IntN(len(want))]-instant.Millis(rng.IntN(3)))
		high = max(low, want[rng.IntN(len(want))]+instant.Millis(rng.IntN(3)-1))
	}
	i, _ := slices.BinarySearch(want, low+1)
	if i < len(want) {
		if got, ok := s.Next(low, 0); !ok || got != want[i] {
			t.Errorf("%v: Next(%s) = %s, want %s", s.Spec(), low, got, want[i])
		}
	}
	j, _ := slices.BinarySearch(want, high+1)
	got, ok := s.Latest(low, high, 0)
	if ok != (j > i) || ok && got != want[j-1] {
		t.Errorf("%v: Latest(%s, %s) = %s, %t; want one of %s", s.Spec(), low, high, got, ok, want[i:j])
	}
}

// TestCronAgreesWithOracle asks around the changes of all zones from 2020 to 2040: a sample, or all
// 8,500 of them with -schedule.full.
func TestCronAgreesWithOracle(t *testing.T) {
	testkit.NotUnderRace(t, oneAsks)
	rng := seeded(t)
	names := zoneNames(t)
	rng.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	left := 250
	if testing.Short() {
		left = 80
	}
	windows := 0
	for _, name := range names {
		loc, err := EmbeddedZones().Location(name)
		if err != nil {
			t.Fatal(err)
		}
		changes := changesOf(loc, time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(2041, 1, 1, 0, 0, 0, 0, time.UTC))
		for _, change := range changes {
			if !*scheduleFull && (left == 0 || rng.IntN(len(changes)) > 2) {
				continue
			}
			left--
			windows++
			moments := window(loc, change, 26*3600, 26*3600, 60)
			for _, expr := range sweepExprs {
				checkTicks(t, rng, expr, name, moments, 60)
			}
		}
		if t.Failed() {
			return
		}
	}
	t.Logf("checked %d changes, %d expressions each", windows, len(sweepExprs))
}

// oddChanges are the ones that have broken schedulers: half hours, midnights, a lost day, a repeated
// day, seven hours, negative summer time, Ramadan, two hours, seconds, the last day of leap years beyond
// the table of package time, and a last change in that table that the rule for later years does not know.
var oddChanges = []struct{ zone, from, to string }{
	{"Australia/Lord_Howe", "2024-01-01", "2028-01-01"},
	{"Asia/Beirut", "2022-01-01", "2028-01-01"},
	{"Africa/Cairo", "2023-01-01", "2028-01-01"},
	{"America/Sao_Paulo", "2016-01-01", "2020-01-01"},
	{"America/Havana", "2024-01-01", "2028-01-01"},
	{"Pacific/Apia", "2009-01-01", "2013-01-01"},
	{"Pacific/Kwajalein", "1993-01-01", "1994-01-01"},
	{"Pacific/Kiritimati", "1994-06-01", "1995-06-01"},
	{"Antarctica/Vostok", "1994-01-01", "1995-01-01"},
	{"Antarctica/Troll", "2024-01-01", "2027-01-01"},
	{"Antarctica/Casey", "2018-01-01", "2024-01-01"},
	{"Europe/Dublin", "1971-01-01", "1973-01-01"},
	{"Europe/Dublin", "2024-01-01", "2028-01-01"},
	{"Africa/Casablanca", "2018-01-01", "2032-01-01"},
	{"Africa/El_Aaiun", "2084-01-01", "2090-01-01"},
	{"America/Nuuk", "2021-01-01", "2026-01-01"},
	{"Asia/Gaza", "2039-01-01", "2042-01-01"},
	{"Asia/Pyongyang", "2015-01-01", "2019-01-01"},
	{"America/Caracas", "2007-01-01", "2017-01-01"},
	{"America/Ciudad_Juarez", "2022-01-01", "2025-01-01"},
	{"Asia/Kathmandu", "1985-06-01", "1986-06-01"},
	{"America/New_York", "2024-01-01", "2028-01-01"},
	{"Europe/Berlin", "2098-01-01", "2101-01-01"},
}

func TestCronAtOddChanges(t *testing.T) {
	changes := oddChanges
	if testkit.Brief() {
		changes = changes[:4] // side by side, in zones of their own
	}
	for _, odd := range changes {
		t.Run(fmt.Sprintf("%s/%s", odd.zone, odd.from[:4]), func(t *testing.T) {
			t.Parallel()
			rng := seeded(t)
			loc, err := EmbeddedZones().Location(odd.zone)
			if err != nil {
				t.Fatal(err)
			}
			from, to := rfc3339(t, odd.from+"T00:00:00Z").Time(), rfc3339(t, odd.to+"T00:00:00Z").Time()
			changes := changesOf(loc, from, to)
			if len(changes) == 0 {
				t.Fatal("no change found")
			}
			for _, change := range changes {
				moments := window(loc, change, 50*3600, 74*3600, 60)
				for _, expr := range sweepExprs {
					checkTicks(t, rng, expr, odd.zone, moments, 60)
				}
			}
		})
	}
}

// TestCronSecondsAgreeWithOracle looks at every second around some changes, one of which ends a time
// with seconds in its offset.
func TestCronSecondsAgreeWithOracle(t *testing.T) {
	testkit.NotUnderRace(t, oneAsks)
	rng := seeded(t)
	exprs := []string{
		"*/10 30 2 * * *", "0 30 2 * * *", "15,45 30 1 * * *", "*/7 * * * * *", "59 59 * * * *",
		"30 */20 0-4 * * *", "1/15 0,30 1-2 * * *", "20 15 0 * * *",
	}
	for _, c := range []struct{ zone, change string }{
		{"America/New_York", "2026-03-08T07:00:00Z"},
		{"America/New_York", "2026-11-01T06:00:00Z"},
		{"Australia/Lord_Howe", "2026-10-03T15:30:00Z"},
		{"Africa/Monrovia", "1972-01-07T00:44:30Z"},
	} {
		moments := secondsAround(t, c.zone, c.change, 3*3600, 3*3600)
		for _, expr := range exprs {
			checkTicks(t, rng, expr, c.zone, moments, 1)
		}
	}
}

// TestCronAtTurnOfYear covers the days for which package time returns a period that is over: the last days of leap
// years beyond its table.
func TestCronAtTurnOfYear(t *testing.T) {
	testkit.NotUnderRace(t, oneAsks)
	rng := seeded(t)
	for _, zone := range []string{"America/New_York", "Australia/Sydney", "Africa/Cairo", "Europe/Dublin"} {
		loc, err := EmbeddedZones().Location(zone)
		if err != nil {
			t.Fatal(err)
		}
		for _, year := range []int{2039, 2040, 2096, 2400} {
			around := time.Date(year, time.December, 31, 0, 0, 0, 0, time.UTC).Unix()
			moments := window(loc, around, 26*3600, 50*3600, 60)
			for _, expr := range sweepExprs {
				checkTicks(t, rng, expr, zone, moments, 60)
			}
		}
	}
}
