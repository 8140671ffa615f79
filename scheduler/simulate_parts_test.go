package scheduler

import (
	"fmt"
	"strings"
	"time"
)

// drawParts lets a job have several schedules.
func (w *world) drawParts(d *modelDef, scale int64) {
	d.zone = simZones[w.rng.IntN(len(simZones))]
	if w.chance(8) {
		d.starts = w.wall() + w.between(-20*scale, 100*scale)
	}
	for range 2 + w.rng.IntN(3) {
		d.parts = append(d.parts, w.drawPart(d, scale))
	}
	texts := make([]string, len(d.parts))
	for i, p := range d.parts {
		texts[i] = p.text
	}
	d.expr = strings.Join(texts, ", ")
	if w.chance(8) && !d.isIn(simMovedZone) {
		w.drawEnd(d, scale)
	}
}

// drawPart draws one of several schedules.
func (w *world) drawPart(d *modelDef, scale int64) (p modelPart) {
	switch n := w.rng.IntN(10); {
	case n < 3:
		p.at = max(d.starts, w.wall()+w.between(-20*scale, 100*scale))/1000*1000 + 1000 // other schedules may have the same tick
		p.text = "@at " + time.UnixMilli(p.at).UTC().Format(time.RFC3339)
	case n < 5:
		p.every = w.drawDistance(scale)
		p.text = fmt.Sprintf("@every %dms", p.every)
	default:
		crons := simCrons[w.plan.kind]
		if w.plan.kind != "hours" && w.chance(3) {
			crons = simMoving
		}
		p.cron = crons[w.rng.IntN(len(crons))]
		if p.text = p.cron; w.chance(3) {
			p.zone = simZones[2+w.rng.IntN(len(simZones)-2)]
			p.text = "CRON_TZ=" + p.zone + " " + p.cron
		}
	}
	return p
}

// drawEnd lets a window end after the first ticks of all its schedules.
func (w *world) drawEnd(d *modelDef, scale int64) {
	least := w.wall()
	for _, p := range d.parts {
		ticks := w.model.ticksOf(&modelDef{zone: d.zone, parts: []modelPart{p}, starts: d.starts}, 0)
		least = max(least, ticks.next(max(d.starts, least)-1))
	}
	d.ends = least + 1 + w.between(0, 400*scale)
}

// drawExclude lets a job have lines of its own that leave ticks out. They leave some, and each single date.
func (w *world) drawExclude(d *modelDef, scale int64) {
	if d.ends > 0 {
		return
	}
	if d.at > 0 {
		w.drawSteadyZone(d)
	}
	lines := simLines[w.plan.kind]
	for range 1 + w.rng.IntN(2) {
		d.exclude = append(d.exclude, lines[w.rng.IntN(len(lines))])
	}
	at := w.wall() + w.between(-10*scale, 100*scale)
	text := func(at int64, layout string) string { return time.UnixMilli(at).UTC().Format(layout) }
	switch w.rng.IntN(4) {
	case 0:
		d.exclude[0] = text(at, time.DateOnly)
	case 1:
		d.exclude[0] = text(at, time.DateOnly) + "/" + text(at+w.between(0, 3*modelDay), time.DateOnly)
	case 2:
		d.exclude[0] = text(at, time.RFC3339) + "/" + text(at+1000+w.between(0, 50*scale), time.RFC3339)
	}
	if d.at == 0 && !w.model.hasTicks(d) || w.leavesOutDate(d) {
		d.exclude = nil
	}
}

// drawCalendar lets a job follow a calendar that leaves it some ticks, and each single date.
func (w *world) drawCalendar(d *modelDef, calendar string) {
	before := *d
	if d.calendar = calendar; d.at > 0 {
		w.drawSteadyZone(d)
	}
	if d.at == 0 && !w.model.hasTicks(d) || w.leavesOutDate(d) {
		*d = before
	}
}

// drawSteadyZone draws a zone whose rules do not change, for the exclusions of a one-shot: where others would leave it out, the job
// would fail.
func (w *world) drawSteadyZone(d *modelDef) {
	d.zone = []string{"America/New_York", "Australia/Lord_Howe", "Asia/Kolkata"}[w.rng.IntN(3)]
}

// leavesOutDate reports whether the exclusions of a definition leave out one of its single dates, by the rules of one of the processes.
// Such a definition is refused.
func (w *world) leavesOutDate(d *modelDef) bool {
	return w.model.leavesOutDate(d, 0) || w.model.leavesOutDate(d, 1)
}
