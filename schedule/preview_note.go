package schedule

import (
	"strings"
	"time"
)

// notedMax bounds the times of day that one note names; "others" stands for the rest.
const notedMax = 3

// note returns the text about a change. It says what happens and when, in the wall time of the zone, so that a
// reader need not know the word fold.
func (c *cron) note(ch change) string {
	times := listTimes(ch.walls)
	many := len(ch.walls) > 1
	on := " on " + wallTime(ch.walls[0]).Format(time.DateOnly) + " in " + c.loc.String() + "; "
	// The wall clock is set back behind what it had reached, so the times in between come twice.
	if ch.after.start+ch.after.offset < ch.reached {
		verb := pick(many, " happen twice", " happens twice")
		first, second := zoneLabel(c.loc, ch.before.end-1), zoneLabel(c.loc, ch.after.start)
		if c.fixed {
			return times + verb + on + pick(many, "each runs once, the first time (", "runs once, the first time (") + first + ")"
		}
		return times + verb + on + pick(many, "each runs both times (", "runs both times (") + first + " and " + second + ")"
	}
	verb := pick(many, " do not exist", " does not exist")
	if !c.fixed {
		return times + verb + on + pick(many, "no runs for them", "no run for it")
	}
	at := time.Unix(ch.after.start, 0).In(c.loc)
	layout := clockLayout(ch.after.start + ch.after.offset)
	// A zone can drop a whole day, and the run then has another date than the time that it stands for.
	if at.Format(time.DateOnly) != wallTime(ch.walls[0]).Format(time.DateOnly) {
		layout = time.DateOnly + " " + layout
	}
	return times + verb + on + pick(many, "one run for them at ", "runs at ") + at.Format(layout) + " " + zoneLabel(c.loc, ch.after.start)
}

// listTimes joins times of day: "02:00", "02:00 and 02:30", "02:00, 02:10, 02:20 and others".
func listTimes(walls []int64) string {
	var b strings.Builder
	for i, wall := range walls {
		switch {
		case i == notedMax:
			b.WriteString(" and others")
			return b.String()
		case i > 0 && i == len(walls)-1:
			b.WriteString(" and ")
		case i > 0:
			b.WriteString(", ")
		}
		b.WriteString(wallTime(wall).Format(clockLayout(wall)))
	}
	return b.String()
}

// wallTime returns a wall time as a time in UTC, for formatting only.
func wallTime(wall int64) time.Time { return time.Unix(wall, 0).UTC() }

// clockLayout returns a layout without seconds if they are zero.
func clockLayout(wall int64) string {
	if wall%60 != 0 {
		return time.TimeOnly
	}
	return "15:04"
}

// zoneLabel returns the abbreviation of the zone at an instant, such as EDT or +03.
func zoneLabel(loc *time.Location, sec int64) string {
	label, _ := time.Unix(sec, 0).In(loc).Zone()
	return label
}

// pick returns one of two texts, by number. Verbs are chosen with it, so that one time and several make whole
// sentences.
func pick(many bool, plural, singular string) string {
	if many {
		return plural
	}
	return singular
}
