package scheduler

import (
	"slices"
	"sort"
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

	parts   []modelTicks          // of several schedules, instead of the list and the grid
	without func(tick int64) bool // what exclusions leave out; nil is nothing
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

// isSparse reports whether exclusions leave out so many ticks before the first one after an instant that the search for it may give
// up.
func (t *modelTicks) isSparse(after int64) bool {
	const many = 1000
	tick := t.any(after)
	for n := 0; t.without != nil && tick != 0 && t.without(tick); n++ {
		if n == many {
			return true
		}
		tick = t.any(tick)
	}
	return false
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
	tick := t.onGrid(max(after, t.from-1))
	for i := range t.parts {
		if at := t.parts[i].onGrid(max(after, t.from-1)); at != 0 && (tick == 0 || at < tick) {
			tick = at
		}
	}
	if t.until > 0 && tick >= t.until {
		return 0
	}
	return tick
}

// onGrid returns the first instant of the list or of the grid after another.
func (t *modelTicks) onGrid(after int64) (tick int64) {
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
	lines    map[string]modelLine
}

func newModelClocks(from, to time.Time) *modelClocks {
	return &modelClocks{
		from: from.Unix() / 60, to: to.Unix() / 60,
		walls: make(map[string][]int32), ticks: make(map[string][]int64), lines: make(map[string]modelLine),
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
