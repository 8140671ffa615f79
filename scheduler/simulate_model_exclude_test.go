package scheduler

import (
	"slices"
	"strings"
	"time"
)

// What a line leaves out, as docs/schedules.md says.

// modelLine is a line that leaves ticks out: the minutes of an expression, days, or instants. Days and instants are up to, not
// including, the second.
type modelLine struct {
	cron  modelCron
	isRun bool     // of days or instants
	days  [2]int64 // since the epoch
	times [2]int64 // milliseconds
}

func parseModelLine(line string) (l modelLine) {
	if strings.Contains(line, " ") {
		return modelLine{cron: parseModelCron(line)}
	}
	l.isRun = true
	first, last, isRange := strings.Cut(line, "/")
	if !isRange {
		last = first
	}
	if strings.Contains(line, "T") {
		l.times = [2]int64{parseModelTime(time.RFC3339, first), parseModelTime(time.RFC3339, last)}
	} else {
		l.days = [2]int64{parseModelTime(time.DateOnly, first) / modelDay, parseModelTime(time.DateOnly, last)/modelDay + 1}
	}
	return l
}

func parseModelTime(layout, text string) int64 {
	t, err := time.Parse(layout, text)
	if err != nil {
		panic(err)
	}
	return t.UnixMilli()
}

// leavesOut reports whether a line leaves an instant out at which the wall clock shows a minute.
func (l *modelLine) leavesOut(at int64, wall int32) bool {
	if !l.isRun {
		return l.cron.matches(wall)
	}
	day := int64(wall) / (24 * 60)
	return l.days[0] <= day && day < l.days[1] || l.times[0] <= at && at < l.times[1]
}

// leavesOut reports whether one of some lines leaves out an instant, by a zone's clock.
func (c *modelClocks) leavesOut(lines []string, zone string, at int64) bool {
	minute := at/60_000 - c.from
	wall := c.wall(zone)
	if minute < 0 || minute >= int64(len(wall)) {
		return false
	}
	for _, line := range lines {
		l, ok := c.lines[line]
		if !ok {
			l = parseModelLine(line)
			c.lines[line] = l
		}
		if l.leavesOut(at, wall[minute]) {
			return true
		}
	}
	return false
}

// leavesOutDate reports whether the exclusions of a definition leave out one of its single dates, by some rules of zones.
func (m *model) leavesOutDate(d *modelDef, rules int) bool {
	lines, zone := slices.Concat(m.calendars[d.calendar], d.exclude), ruledBy(rules, d.zone)
	isOut := func(at int64) bool { return at > 0 && m.clocks.leavesOut(lines, zone, at) }
	return isOut(d.at) || slices.ContainsFunc(d.parts, func(p modelPart) bool { return isOut(p.at) })
}
