package schedule

import (
	"fmt"
	"testing"
	"time"

	"github.com/carillon-io/carillon/testkit"
)

// movingItems are all items that a day field may have and that fall on another date each month.
func movingItems() (dates, weekdays []string) {
	dates = []string{"L", "LW"}
	for n := 1; n <= 30; n++ {
		dates = append(dates, fmt.Sprintf("L-%d", n))
	}
	for n := 1; n <= 31; n++ {
		dates = append(dates, fmt.Sprintf("%dW", n))
	}
	for day := range 7 {
		weekdays = append(weekdays, fmt.Sprintf("%dL", day))
		for n := 1; n <= 5; n++ {
			weekdays = append(weekdays, fmt.Sprintf("%d#%d", day, n))
		}
	}
	return dates, weekdays
}

// TestMovingDaysAgreeWithOracle looks at every day of 28 years, in which every month begins on every
// weekday, leap years included.
func TestMovingDaysAgreeWithOracle(t *testing.T) {
	testkit.NotUnderRace(t, oneAsks)
	dates, weekdays := movingItems()
	var exprs []string
	for _, item := range dates {
		exprs = append(exprs, "0 0 "+item+" * *", "0 0 13,"+item+" */3 *")
	}
	for _, item := range weekdays {
		exprs = append(exprs, "0 0 * * "+item, "0 0 L 2,6 1,"+item)
	}
	first := time.Date(2001, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, expr := range exprs {
		p := mustSchedule(t, expr, "").cron.pattern
		o := newOracle(expr)
		for month := range 28 * 12 {
			d := first.AddDate(0, month, 0)
			m, _ := monthAt(d.Unix() / daySeconds)
			var want uint32
			for ; int(d.Month()) == int(m.month); d = d.AddDate(0, 0, 1) {
				if o.matches(moment{fields: [7]int{0, 0, 0, d.Day(), int(d.Month()), int(d.Weekday()), d.Year()}}) {
					want |= 1 << d.Day()
				}
			}
			if got := p.days(&m); got != want {
				t.Fatalf("%q: days of %d-%d are %b, want %b", expr, m.year, m.month, got, want)
			}
		}
	}
}

func TestYears(t *testing.T) {
	for _, c := range []struct{ expr, zone, after, want string }{
		{"0 0 8 1 1 ? 2030", "", "2026-01-01T00:00:00Z", "2030-01-01T08:00:00Z"},
		{"0 0 8 1 1 ? 2030", "", "2030-01-01T08:00:00Z", ""},
		{"0 0 8 1 1 ? 2027,2199", "America/New_York", "2028-01-01T00:00:00Z", "2199-01-01T13:00:00Z"},
		{"0 0 8 29 2 ? */10", "", "1981-01-01T00:00:00Z", "2000-02-29T08:00:00Z"},
		{"59 59 23 31 12 ? 2033", "Pacific/Kiritimati", "2026-01-01T00:00:00Z", "2033-12-31T09:59:59Z"},
		{"0 */30 0 1 1 ? 1970", "", "1969-01-01T00:00:00Z", "1970-01-01T00:30:00Z"},
		// In Havana the clock goes back from 01:00 to 00:00: the last time of the schedule comes twice.
		{"0 */30 0 1 11 ? 2026", "America/Havana", "2026-11-01T04:30:00Z", "2026-11-01T05:00:00Z"},
		{"0 */30 0 1 11 ? 2026", "America/Havana", "2026-11-01T05:00:00Z", "2026-11-01T05:30:00Z"},
		{"0 */30 0 1 11 ? 2026", "America/Havana", "2026-11-01T05:30:00Z", ""},
		{"0 30 0 1 11 ? 2026", "America/Havana", "2026-11-01T04:30:00Z", ""},
		{"0 30 2 8 3 ? 2026", "America/New_York", "2026-03-08T06:59:59Z", "2026-03-08T07:00:00Z"},
		{"0 */30 * * * ? 2026", "Etc/GMT-2", "2026-12-31T21:30:00Z", ""},
	} {
		s := mustSchedule(t, c.expr, c.zone)
		got, ok := s.Next(rfc3339(t, c.after), 0)
		if ok != (c.want != "") || ok && got != rfc3339(t, c.want) {
			t.Errorf("%q in %q after %s: %s, %t; want %q", c.expr, c.zone, c.after, got, ok, c.want)
		}
	}
}
