package scheduler

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// modelCron is an expression taken apart.
type modelCron struct {
	seconds                        []int
	minutes, hours, doms, mons, ds []int
	moving, weekly                 []string // items that move, of the two day fields
	wild                           bool     // the minute or the hour begins with a star
	either                         bool     // one of the two day fields is enough
}

var modelMacros = map[string]string{
	"@hourly": "0 * * * *", "@daily": "0 0 * * *", "@weekly": "0 0 * * 0", "@monthly": "0 0 1 * *", "@yearly": "0 0 1 1 *",
}

func parseModelCron(expr string) modelCron {
	if fields, ok := modelMacros[expr]; ok {
		expr = fields
	}
	f := strings.Fields(expr)
	x := modelCron{seconds: []int{0}}
	if len(f) == 6 {
		x.seconds = parseModelField(f[0], 0, 59)
		f = f[1:]
	}
	star := func(i int) bool { return strings.HasPrefix(f[i], "*") }
	x.minutes, x.hours = parseModelField(f[0], 0, 59), parseModelField(f[1], 0, 23)
	f[2], x.moving = cutMoving(f[2])
	f[4], x.weekly = cutMoving(f[4])
	x.doms, x.mons, x.ds = parseModelField(f[2], 1, 31), parseModelField(f[3], 1, 12), parseModelField(f[4], 0, 6)
	x.wild = star(0) || star(1)
	x.either = !star(2) && !star(4)
	return x
}

func parseModelField(field string, low, high int) (values []int) {
	number := func(s string) int {
		n, err := strconv.Atoi(s)
		if err != nil {
			panic(field)
		}
		return n
	}
	for item := range strings.SplitSeq(field, ",") {
		if item == "" {
			continue
		}
		item, step, stepped := strings.Cut(item, "/")
		from, to, by := low, high, 1
		if first, last, isRange := strings.Cut(item, "-"); isRange {
			from, to = number(first), number(last)
		} else if item != "*" {
			if from = number(item); !stepped {
				to = from
			}
		}
		if stepped {
			by = number(step)
		}
		for v := from; v <= to; v += by {
			values = append(values, v)
		}
	}
	slices.Sort(values)
	return slices.Compact(values)
}

// matches reports whether a minute of the wall clock is one of the expression.
func (x *modelCron) matches(wall int32) bool {
	if !slices.Contains(x.minutes, int(wall%60)) || !slices.Contains(x.hours, int(wall/60%24)) {
		return false
	}
	t := time.Unix(int64(wall)*60, 0).UTC()
	if !slices.Contains(x.mons, int(t.Month())) {
		return false
	}
	dom := slices.Contains(x.doms, t.Day()) || slices.ContainsFunc(x.moving, func(item string) bool { return isMovingDay(item, t) })
	dow := slices.Contains(x.ds, int(t.Weekday())) || slices.ContainsFunc(x.weekly, func(item string) bool { return isMovingWeekday(item, t) })
	if x.either {
		return dom || dow
	}
	return dom && dow
}

// matchesAny reports whether a minute from one up to, not including, another is one of the expression.
func (x *modelCron) matchesAny(from, to int32) bool {
	for w := from; w < to; w++ {
		if x.matches(w) {
			return true
		}
	}
	return false
}

// cutMoving takes the items that move out of a day field.
func cutMoving(field string) (rest string, moving []string) {
	var plain []string
	for item := range strings.SplitSeq(field, ",") {
		if strings.ContainsAny(item, "LW#") {
			moving = append(moving, item)
		} else {
			plain = append(plain, item)
		}
	}
	return strings.Join(plain, ","), moving
}

// isMovingDay reports whether an item such as L, L-3, LW or 15W is a day of a month.
func isMovingDay(item string, t time.Time) bool {
	last := time.Date(t.Year(), t.Month()+1, 0, 0, 0, 0, 0, time.UTC).Day()
	day, isNearest := strings.CutSuffix(item, "W")
	wanted := last
	if before, isBefore := strings.CutPrefix(day, "L-"); isBefore {
		wanted = last - parseModelField(before, 1, 30)[0]
	} else if day != "L" {
		wanted = parseModelField(day, 1, 31)[0]
	}
	if !isNearest || wanted > last {
		return t.Day() == wanted
	}
	for _, away := range []int{0, -1, 1, -2, 2} { // the nearest one that is in the month and no weekend
		near := time.Date(t.Year(), t.Month(), wanted+away, 0, 0, 0, 0, time.UTC)
		if near.Month() == t.Month() && near.Weekday() != time.Saturday && near.Weekday() != time.Sunday {
			return near.Day() == t.Day()
		}
	}
	return false
}

// isMovingWeekday reports whether an item such as 5#3 or 5L is a day of a month.
func isMovingWeekday(item string, t time.Time) bool {
	if day, isLast := strings.CutSuffix(item, "L"); isLast {
		return int(t.Weekday()) == parseModelField(day, 0, 6)[0] && t.AddDate(0, 0, 7).Month() != t.Month()
	}
	day, nth, _ := strings.Cut(item, "#")
	return int(t.Weekday()) == parseModelField(day, 0, 6)[0] && (t.Day()+6)/7 == parseModelField(nth, 1, 5)[0]
}
