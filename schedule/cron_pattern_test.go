package schedule

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/carillon-io/carillon/instant"
	"github.com/carillon-io/carillon/testkit"
)

// randomField writes a field of a kind, with a bias to few values.
func randomField(rng *rand.Rand, low, high int) string {
	value := func() int { return low + rng.IntN(high-low+1) }
	switch rng.IntN(5) {
	case 0:
		return "*"
	case 1:
		return fmt.Sprintf("*/%d", 1+rng.IntN(high-low))
	case 2:
		a, b := value(), value()
		return fmt.Sprintf("%d-%d", min(a, b), max(a, b))
	case 3:
		return fmt.Sprintf("%d,%d,%d", value(), value(), value())
	}
	return fmt.Sprint(value())
}

// TestPatternAgreesWithDays compares random expressions in UTC with two years of days looked at one by
// one.
func TestPatternAgreesWithDays(t *testing.T) {
	testkit.NotUnderRace(t, oneAsks)
	rng := seeded(t)
	for range 150 {
		expr := strings.Join([]string{
			fmt.Sprint(rng.IntN(60)), randomField(rng, 0, 23),
			randomField(rng, 1, 31), randomField(rng, 1, 12), randomField(rng, 0, 6),
		}, " ")
		s, err := Parse(Spec{Expr: expr})
		if err != nil {
			if !strings.Contains(err.Error(), "never runs") {
				t.Fatalf("%q: %v", expr, err)
			}
			continue
		}
		o := newOracle(expr)
		start := time.Date(2023, 1, 1, 0, 0, 0, 0, time.UTC).Unix()
		at := instant.Millis(start*1000 - 1)
		for hour := start; hour < start+2*366*86400; hour += 3600 {
			m := lookAt(hour, time.UTC)
			m.fields[fieldMinute] = int(newOracleMinute(expr))
			if !o.matches(m) {
				continue
			}
			want := instant.Millis((hour + 60*int64(m.fields[fieldMinute])) * 1000)
			got, ok := s.Next(at, 0)
			if !ok || got != want {
				t.Fatalf("%q: Next(%s) = %s, want %s", expr, at, got, want)
			}
			at = got
		}
	}
}

// newOracleMinute reads the single minute that the random expressions begin with.
func newOracleMinute(expr string) (minute int64) {
	fmt.Sscan(expr, &minute)
	return minute
}

// TestPatternRareDates covers dates that no search of a few years finds.
func TestPatternRareDates(t *testing.T) {
	for _, c := range []struct{ expr, zone, after, want string }{
		{"0 0 29 2 *", "", "2096-02-29T00:00:00Z", "2104-02-29T00:00:00Z"},
		{"*/30 4 8 3 *", "America/New_York", "2026-03-01T00:00:00Z", "2026-03-08T08:00:00Z"},
		{"*/30 1 1 11 *", "America/New_York", "2026-11-01T05:30:00Z", "2026-11-01T06:00:00Z"},
		{"0 0 29 2 *", "America/New_York", "2096-02-29T12:00:00Z", "2104-02-29T05:00:00Z"},
		{"* * 29 2 *", "America/New_York", "2096-03-01T05:00:00Z", "2104-02-29T05:00:00Z"},
		{"0 12 29 2 */6", "Europe/Berlin", "2088-03-01T00:00:00Z", "2116-02-29T11:00:00Z"},
		{"*/30 12 29 2 */6", "Europe/Berlin", "2088-03-01T00:00:00Z", "2116-02-29T11:00:00Z"},
		{"59 59 23 31 12 *", "", "2026-12-31T23:59:59Z", "2027-12-31T23:59:59Z"},
		{"0 0 31 */2 *", "", "2026-01-31T00:00:00Z", "2026-03-31T00:00:00Z"},
		{"59 59 23 31 12 *", "", "9999-01-01T00:00:00Z", "9999-12-31T23:59:59Z"},
		{"0 0 1 1 *", "", "9999-06-01T00:00:00Z", ""},
	} {
		got, ok := mustSchedule(t, c.expr, c.zone).Next(rfc3339(t, c.after), 0)
		if ok != (c.want != "") || ok && got != rfc3339(t, c.want) {
			t.Errorf("%q in %q after %s: %s, %t; want %q", c.expr, c.zone, c.after, got, ok, c.want)
		}
	}
}
