package schedule

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/carillon-io/carillon/instant"
)

// The oracle shares no code with the product. It knows the rules of ISC cron in their plainest form: a
// clock that is looked at again and again, and fields that are compared one by one.

// moment is one look at the clock.
type moment struct {
	instant int64 // seconds since the epoch
	wall    int64 // what the wall clock shows, as seconds
	fields  [7]int
}

func lookAt(sec int64, loc *time.Location) moment {
	local := time.Unix(sec, 0).In(loc)
	year, month, day := local.Date()
	hour, minute, second := local.Clock()
	return moment{
		instant: sec,
		wall:    time.Date(year, month, day, hour, minute, second, 0, time.UTC).Unix(),
		fields:  [7]int{second, minute, hour, day, int(month), int(local.Weekday()), year},
	}
}

// oracle is a cron expression: for each field, which values are in it.
type oracle struct {
	in     [6][64]bool
	years  map[int]bool // nil is every year
	moving [6][]func(time.Time) bool
	dayAnd bool
	wild   bool
}

var oracleNames = strings.NewReplacer("jan", "1", "feb", "2", "mar", "3", "apr", "4", "may", "5", "jun", "6", "jul", "7",
	"aug", "8", "sep", "9", "oct", "10", "nov", "11", "dec", "12",
	"sun", "0", "mon", "1", "tue", "2", "wed", "3", "thu", "4", "fri", "5", "sat", "6")

func newOracle(expr string) *oracle {
	words := strings.Fields(oracleNames.Replace(strings.ToLower(strings.ReplaceAll(expr, "?", "*"))))
	if len(words) == 5 {
		words = append([]string{"0"}, words...)
	}
	o := &oracle{}
	if len(words) == 7 {
		o.addYears(words[6])
		words = words[:6]
	}
	limits := [6][2]int{{0, 59}, {0, 59}, {0, 23}, {1, 31}, {1, 12}, {0, 6}}
	for i, word := range words {
		for item := range strings.SplitSeq(word, ",") {
			if f := oracleDay(i, item); f != nil {
				o.moving[i] = append(o.moving[i], f)
				continue
			}
			o.add(i, item, limits[i][0], limits[i][1])
		}
	}
	o.dayAnd = words[3][0] == '*' || words[5][0] == '*'
	o.wild = words[1][0] == '*' || words[2][0] == '*'
	return o
}

func (o *oracle) add(field int, item string, low, high int) {
	step := 1
	if i := strings.Index(item, "/"); i >= 0 {
		step, _ = strconv.Atoi(item[i+1:])
		item = item[:i]
		if !strings.Contains(item, "-") && item != "*" {
			item += "-" + strconv.Itoa(high)
		}
	}
	if item != "*" {
		first, last, ranged := strings.Cut(item, "-")
		low, _ = strconv.Atoi(first)
		high = low
		if ranged {
			high, _ = strconv.Atoi(last)
		}
	}
	for v := low; v <= high; v += step {
		if field == 5 {
			o.in[field][v%7] = true
		} else {
			o.in[field][v] = true
		}
	}
}

func (o *oracle) matches(m moment) bool {
	f := m.fields
	if !o.in[0][f[0]] || !o.in[1][f[1]] || !o.in[2][f[2]] || !o.in[4][f[4]] {
		return false
	}
	if o.years != nil && !o.years[f[6]] {
		return false
	}
	if o.dayAnd {
		return o.hasDay(3, f) && o.hasDay(5, f)
	}
	return o.hasDay(3, f) || o.hasDay(5, f)
}

// ticks walks through moments that are one step apart, the first of which only sets the clock.
func (o *oracle) ticks(moments []moment, step int64) []instant.Millis {
	var ticks []instant.Millis
	reached := moments[0].wall
	for _, m := range moments[1:] {
		due := false
		if o.wild {
			due = o.matches(m)
		} else {
			for wall := reached + step; wall <= m.wall; wall += step {
				due = due || o.matches(lookAt(wall, time.UTC))
			}
			reached = max(reached, m.wall)
		}
		if due {
			ticks = append(ticks, instant.Millis(m.instant*1000))
		}
	}
	return ticks
}

// changesOf returns when a zone's offset changes, by looking every three hours and closing in.
func changesOf(loc *time.Location, from, to time.Time) []int64 {
	offset := func(sec int64) int {
		_, off := time.Unix(sec, 0).In(loc).Zone()
		return off
	}
	var changes []int64
	for sec := from.Unix(); sec < to.Unix(); sec += 3 * 3600 {
		low, high := sec, sec+3*3600
		if offset(low) == offset(high) {
			continue
		}
		for high-low > 1 {
			if middle := (low + high) / 2; offset(middle) == offset(low) {
				low = middle
			} else {
				high = middle
			}
		}
		changes = append(changes, high)
	}
	return changes
}

// secondsAround returns the moments around a change of a zone's clock, one a second, from so many seconds before to so many
// after it.
func secondsAround(t *testing.T, zone, change string, before, after int64) []moment {
	t.Helper()
	loc, err := EmbeddedZones().Location(zone)
	if err != nil {
		t.Fatal(err)
	}
	return window(loc, int64(rfc3339(t, change))/1000, before, after, 1)
}

// window looks at a zone's clock every step seconds, for some time around an instant. Long before it
// begins, the clock must not have been set back, which holds for a day.
func window(loc *time.Location, around, before, after, step int64) []moment {
	around -= around % 60
	var moments []moment
	for sec := around - before; sec <= around+after; sec += step {
		moments = append(moments, lookAt(sec, loc))
	}
	return moments
}
