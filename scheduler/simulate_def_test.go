package scheduler

import (
	"fmt"
	"time"

	"github.com/carillon-io/carillon/schedule"
)

// simZones have their changes of the clock at different times, by different lengths, or never.
var simZones = []string{
	"", "", simMovedZone, simMovedZone, simMovedZone, "America/New_York", "Australia/Lord_Howe", "Asia/Beirut", "Africa/Cairo",
	"America/Havana", "Asia/Kolkata", "America/St_Johns", "Antarctica/Troll", "Pacific/Chatham",
}

// simMovedZone is the zone whose rules change between lives: it is as it is, or it is simMovedTo.
const (
	simMovedZone = "Europe/Berlin"
	simMovedTo   = "Africa/Cairo"
)

// simRules are the rules that a process may have.
var simRules = [2]*schedule.Zones{
	schedule.EmbeddedZones(),
	schedule.NewZones("moved", "", func(name string) (*time.Location, error) {
		if name == simMovedZone {
			return zoneUnderName(name, simMovedTo)
		}
		return schedule.EmbeddedZones().Location(name)
	}),
}

// simCrons are the expressions of each kind of plan; the more often one is there, the more jobs have it.
var simCrons = map[string][]string{
	"hours": {
		"* * * * *", "*/5 * * * *", "*/15 * * * * *", "5,35 * * * * *", "30 2 * * *", "0,30 1,2,3 * * *",
		"*/20 2 * * *", "*/10 30 2 * * *", "7-59/13 0-23 * * *", "0 */2 * * *", "45 59 1 * * *",
	},
	"month": {
		"*/15 * * * *", "17 * * * *", "30 8 * * 1-5", "0 2 * * *", "30 1,2,3 * * *", "*/10 2-4 * * *", "@daily",
		"15 2 * * 0", "0 12 13 * 5", "0 0 1 * *", "0 12 */2 * 1", "59 23 * * *", "0 3 28-31 * *", "30 2 * * 0,6",
	},
	"year": {
		"@daily", "30 2 * * *", "0,30 2 * * 0", "15 1 * * *", "1 0 * * *", "0 3 * * 1-5", "30 8 * * 1-5", "45 23 * * *",
		"@weekly", "30 2 * * 0", "5 4 * * 6", "0 12 * * 1,3", "30 1 * * 0", "0 9 * * 2", "0 2 * * 0", "@weekly", "10 22 * * 5",
		"@monthly", "0 12 13 * 5", "0 12 */2 * 1", "15 3 1 * *", "0 4 31 * *", "0 2 25-31 3,10 *", "0 0 1 1,7 *",
	},
}

// simMoving are expressions of plans of months and years with days that move.
var simMoving = []string{
	"0 3 L * *", "30 2 LW * *", "15 4 15W * *", "0 9 * * 5#3", "30 2 * * 0L", "0 6 L-3,10 * *", "0 12 1W * 3#1", "20 2 31W * *", "0 1 * * 1#5,6L",
}

// newDef draws a definition.
func (w *world) newDef() *modelDef {
	rng, scale := w.rng, w.plan.scale.Milliseconds()
	d := &modelDef{
		reported: w.chance(5), timeout: 1000 + w.between(0, scale), paused: w.chance(12),
		overlap: []string{"allow", "skip", "buffer_one", "buffer_all", "cancel_other"}[rng.IntN(5)],
		missed:  []string{"skip", "fire_once", "backfill"}[rng.IntN(3)],
		window:  1 + w.between(0, 30*scale), maxCatchup: 1 + rng.IntN(20),
	}
	if d.overlap == "allow" {
		d.maxConcurrent = rng.IntN(4)
	}
	if w.chance(3) {
		d.pauseOnFailure = 1 + rng.IntN(3)
	}
	if w.chance(6) {
		d.maxRuns = 1 + rng.IntN(20)
	}
	if w.chance(4) {
		d.jitter = min(modelDay, 1+w.between(0, 3*scale))
	}
	w.drawRetry(d, scale)
	if w.plan.motley && w.chance(2) {
		w.drawParts(d, scale)
	} else {
		w.drawSchedule(d, scale)
	}
	if w.plan.motley && w.chance(3) {
		w.drawExclude(d, scale)
	}
	w.drawLongRetry(d)
	return d
}

// drawLongRetry lets some runs wait for their next attempts until just after the tick that follows theirs.
func (w *world) drawLongRetry(d *modelDef) {
	if !w.chance(5) {
		return
	}
	ticks := w.model.ticksOf(d, w.wall())
	first := ticks.next(w.wall())
	if far := ticks.next(first); first != 0 && far != 0 && far-first < modelDay/2 {
		d.retry.first = far - first + w.between(0, 2000)
		d.retry.most, d.retry.jitter = d.retry.first, 0
	}
}

func (w *world) drawRetry(d *modelDef, scale int64) {
	rng := w.rng
	first := 100 + w.between(0, pick(w.chance(5), 3*scale, scale/4)) // some wait beyond the next ticks
	d.retry = modelRetry{
		attempts: 1 + rng.IntN(5), first: first, most: min(first*int64(1+rng.IntN(10)), modelDay), refusals: w.chance(4),
		multiplier: []float64{1, 1.5, 2, 3}[rng.IntN(4)], jitter: []float64{0, 0.1, 0.5, 1}[rng.IntN(4)],
	}
	if w.chance(5) {
		d.retry.maxAge = 1 + w.between(0, 3*scale)
	}
}

// drawSchedule draws when a job is to run.
func (w *world) drawSchedule(d *modelDef, scale int64) {
	crons := simCrons[w.plan.kind]
	switch n := w.rng.IntN(20); {
	case n < 3:
		d.at = (w.wall()+w.between(0, 100*scale))/1000*1000 + 1137 // no tick of another schedule
		d.expr = "@at " + time.UnixMilli(d.at).UTC().Format("2006-01-02T15:04:05.000Z")
		return
	case n < 7 && w.plan.kind != "year" || n < 4:
		d.every = w.drawDistance(scale)
		d.expr = fmt.Sprintf("@every %dms", d.every)
	case w.plan.kind == "year" && w.chance(15):
		d.expr = fmt.Sprintf("%d * * * *", w.rng.IntN(60))
	default:
		d.expr = crons[w.rng.IntN(len(crons))]
		d.zone = simZones[w.rng.IntN(len(simZones))]
	}
	if w.chance(8) {
		d.starts = w.wall() + w.between(-20*scale, 100*scale)
	}
	if w.chance(8) && d.zone != simMovedZone { // other rules might give a tick to one that is over
		d.ends = max(d.starts, w.wall()) + 1 + w.between(0, 400*scale)
	}
	if d.every == 0 && w.chance(2) { // exactly at a tick
		ticks := modelTicks{list: w.model.clocks.cron(d.expr, d.zone)}
		for _, edge := range []*int64{&d.starts, &d.ends} {
			if tick := ticks.next(*edge); *edge != 0 && tick != 0 {
				*edge = tick
			}
		}
		if d.ends != 0 && d.ends <= d.starts {
			d.ends = 0
		}
	}
}

// drawDistance draws the distance of an @every: in a year days, else about the scale.
func (w *world) drawDistance(scale int64) int64 {
	if w.plan.kind == "year" {
		return 3*3600_000 + w.between(0, 30*modelDay)
	}
	return scale/10 + w.between(0, 5*scale)
}
