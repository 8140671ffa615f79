package scheduler

import (
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"
)

// The model's own idea of schedules: it walks over every minute of a zone's wall clock and looks whether
// it matches, as slowly and plainly as can be. What it has to get right is docs/schedules.md.

// modelTicks are the ticks of a schedule. Times are milliseconds, 0 is none.
type modelTicks struct {
	list          []int64 // of cron and of a one-shot, ascending
	every, anchor int64   // of @every
	from, until   int64   // no tick before the one, none at or after the other

	kept, keptFrom int64   // a tick that was due before the rules of the zone changed: the next after keptFrom, whatever they say
	others         []int64 // ascending, after kept: ticks of the rules before that a job may have stood at instead

	without func(tick int64) bool // what a calendar leaves out; nil is nothing
}

// next returns the first tick after an instant, 0 if there is none.
func (t *modelTicks) next(after int64) int64 {
	tick := t.any(after)
	for t.without != nil && tick != 0 && t.without(tick) {
		tick = t.any(tick)
	}
	if i, _ := slices.BinarySearch(t.others, after+1); i < len(t.others) && (tick == 0 || t.others[i] < tick) {
		tick = t.others[i]
	}
	if after < t.kept && (after >= t.keptFrom || tick == 0 || tick > t.keptFrom) {
		return t.kept
	}
	return tick
}

// has reports whether an instant is a tick. It looks at no other: next may have to pass over very many that are left out.
func (t *modelTicks) has(at int64) bool {
	if at > t.keptFrom && at <= t.kept {
		return at == t.kept
	}
	if _, other := slices.BinarySearch(t.others, at); other {
		return true
	}
	return t.any(at-1) == at && (t.without == nil || !t.without(at))
}

// any returns the first tick after an instant, be it left out or not.
func (t *modelTicks) any(after int64) int64 {
	after = max(after, t.from-1)
	tick := int64(0)
	if t.every > 0 {
		tick = t.anchor + (after-t.anchor)/t.every*t.every
		for tick > after {
			tick -= t.every
		}
		for tick <= after {
			tick += t.every
		}
	} else if i := sort.Search(len(t.list), func(i int) bool { return t.list[i] > after }); i < len(t.list) {
		tick = t.list[i]
	}
	if t.until > 0 && tick >= t.until {
		return 0
	}
	return tick
}

// between returns the ticks after one instant and before another.
func (t *modelTicks) between(after, before int64) (list []int64) {
	for tick := t.next(after); tick != 0 && tick < before; tick = t.next(tick) {
		list = append(list, tick)
	}
	return list
}

// modelClocks are the wall clocks of zones over the span of a simulation, minute by minute.
type modelClocks struct {
	from, to int64              // minutes since the epoch
	walls    map[string][]int32 // by zone: what the wall clock shows, in minutes as if it were UTC
	ticks    map[string][]int64 // by expression and zone
	lines    map[string]modelCron
}

func newModelClocks(from, to time.Time) *modelClocks {
	return &modelClocks{
		from: from.Unix() / 60, to: to.Unix() / 60,
		walls: make(map[string][]int32), ticks: make(map[string][]int64), lines: make(map[string]modelCron),
	}
}

func (c *modelClocks) wall(zone string) []int32 {
	if wall, ok := c.walls[zone]; ok {
		return wall
	}
	loc, err := time.LoadLocation(zone)
	if err != nil {
		panic(err)
	}
	wall := make([]int32, 0, c.to-c.from)
	for minute := c.from; minute < c.to; minute++ {
		_, offset := time.Unix(minute*60, 0).In(loc).Zone()
		wall = append(wall, int32(minute+int64(offset)/60))
	}
	c.walls[zone] = wall
	return wall
}

// cron returns the ticks of an expression in a zone.
func (c *modelClocks) cron(expr, zone string) []int64 {
	key := expr + "|" + zone
	if list, ok := c.ticks[key]; ok {
		return list
	}
	x := parseModelCron(expr)
	wall := c.wall(zone)
	list := []int64{}
	reached := wall[0] - 1
	for i, shown := range wall {
		start := (c.from + int64(i)) * 60_000
		if !x.wild && x.matchesAny(reached+1, shown) && !(x.matches(shown) && x.seconds[0] == 0) {
			list = append(list, start) // what the gap skipped
		}
		if (x.wild || shown > reached) && x.matches(shown) {
			for _, second := range x.seconds {
				list = append(list, start+int64(second)*1000)
			}
		}
		reached = max(reached, shown)
	}
	c.ticks[key] = list
	return list
}

// leavesOut reports whether lines of five fields match the minute that a zone's clock shows at an instant.
func (c *modelClocks) leavesOut(lines []string, zone string, at int64) bool {
	minute := at/60_000 - c.from
	wall := c.wall(zone)
	if minute < 0 || minute >= int64(len(wall)) {
		return false
	}
	for _, line := range lines {
		x, ok := c.lines[line]
		if !ok {
			x = parseModelCron(line)
			c.lines[line] = x
		}
		if x.matches(wall[minute]) {
			return true
		}
	}
	return false
}

// modelCron is an expression taken apart.
type modelCron struct {
	seconds                        []int
	minutes, hours, doms, mons, ds []int
	wild                           bool // the minute or the hour begins with a star
	either                         bool // one of the two day fields is enough
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
	star := func(i int) bool { return f[i][0] == '*' }
	x.minutes, x.hours = parseModelField(f[0], 0, 59), parseModelField(f[1], 0, 23)
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
	dom, dow := slices.Contains(x.doms, t.Day()), slices.Contains(x.ds, int(t.Weekday()))
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
