package scheduler

import (
	"encoding/binary"
	"maps"
	"slices"
	"time"

	"github.com/carillon-io/carillon/instant"
	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/schedule"
	"github.com/carillon-io/carillon/scheduler/core"
)

// Lives: the process of a world starts, dies at any moment, and starts again on what is durable, or the
// standby takes its place.

// open starts the process. It may die of that, too.
func (w *world) open() {
	if w.tail != nil {
		at := job.Position{LSN: w.store.Applied().LSN + 1, Epoch: uint64(w.life)}
		if err := w.store.Apply(at, w.tail); err != nil {
			w.t.Fatal(err)
		}
		w.tail = nil
	}
	w.life++
	w.inbox, w.low = nil, []byte{byte(job.KindOutbox)}
	w.stepAt, w.commits = w.wall(), 0
	w.drawRelease()
	w.model.start(w.wall(), w.store.Applied().LSN+1)
	e, err := w.start()
	if err != nil {
		w.restartSoon()
		return
	}
	w.engine, w.alive = e, true
	w.model.rules = slices.Index(simRules[:], e.opts.Settings.Zones)
	w.model.settings.lead = e.opts.Settings.Lead.Milliseconds()
	if w.standby.engine == nil {
		w.join()
	}
	w.checkLoaded()
	w.afterStart()
	w.checkUses()
	e.core.Limit(core.Limits{Decisions: w.plan.decisionsMax, CommitBytes: w.plan.commitMax})
	w.pad, w.replanning = e.pad.DriveManually(), nil
	w.gather = gathering{engine: e, taken: make(map[job.ID]struct{}), wakeAt: instant.Millis(w.wall())}
	w.tellSoon()
	w.planDeath()
}

// start starts the process again, or promotes the standby in its place.
func (w *world) start() (*Engine, error) {
	if w.standby.engine != nil && w.standby.rng.IntN(2) == 0 {
		return w.takeOver()
	}
	w.opts.Settings.Zones, w.opts.Settings.Lead = w.drawRules(), w.drawLead()
	return Open(w.opts)
}

// drawLead draws the lead of a process: mostly that of the one before, sometimes a much smaller or larger one.
func (w *world) drawLead() time.Duration {
	leads := []time.Duration{10 * time.Millisecond, 250 * time.Millisecond, time.Second, 10 * time.Second, 30 * time.Second, core.LeadMax}
	if n := w.leads.IntN(4 * len(leads)); n < len(leads) {
		return leads[n]
	}
	return time.Duration(w.model.settings.lead) * time.Millisecond
}

// drawRules draws the rules of zones of a process: mostly those of the one before.
func (w *world) drawRules() *schedule.Zones {
	now := w.model.rules
	if w.standby.rng.IntN(4) == 0 {
		now = 1 - now
	}
	return simRules[now]
}

// die ends the process: nothing that waits in memory comes out any more.
func (w *world) die() {
	if !w.alive {
		return
	}
	w.alive = false
	w.last = w.engine.core.Inspect()
	if w.lose || w.last.StepSealed > 0 { // it may know more than is durable
		w.last = nil
	}
	w.fate = -1
	w.model.crash()
	w.gather.refuseAll()
	w.refuseInbox()
	w.landing = nil
	clear(w.flights)
	_ = w.engine.pad.Disarm()
	w.restartSoon()
}

func (w *world) refuseInbox() {
	for _, t := range w.inbox {
		refuse(t, errDied)
	}
	w.inbox = nil
}

// restartSoon starts the process again after a while: mostly at once, sometimes after days, and sometimes when
// it is just about to be too late for a tick.
func (w *world) restartSoon() {
	wait := w.plan.outage(w.rng)
	if j := w.model.names[w.names[w.rng.IntN(len(w.names))]]; j != nil && j.next() != 0 && w.chance(4) {
		late := pick(w.chance(2), w.model.settings.grace, j.def.window)
		edge := j.next() + late + int64(w.rng.IntN(3)) - 1 - w.wall()
		if edge >= 0 && edge < w.plan.outages.Milliseconds() {
			wait = edge
		}
	}
	w.after(wait, w.open)
}

// planDeath lets the process die after some commits or some time.
func (w *world) planDeath() {
	life := w.life
	w.after(1+int64(w.rng.ExpFloat64()*float64(w.plan.lifetime.Milliseconds())), func() {
		w.after(w.beforeTick(), func() {
			if w.life != life || !w.alive {
				return
			}
			if w.chance(3) {
				w.lose = false
				w.die()
				return
			}
			w.fate, w.lose = w.rng.IntN(3), w.chance(2)
		})
	})
}

// beforeTick draws how many milliseconds a process that is about to die has left: sometimes until a job with a live run has
// a tick that is decided and not due yet.
func (w *world) beforeTick() int64 {
	for n := w.rng.IntN(16); n > 0; n-- {
		j := w.model.names[w.names[w.rng.IntN(len(w.names))]]
		if j == nil || len(j.live) == 0 {
			continue
		}
		if next := j.next(); next > w.wall() && next < w.wall()+10*w.plan.scale.Milliseconds() {
			return max(0, next-w.wall()-int64(w.rng.IntN(int(w.plan.settings.Lead.Milliseconds()))))
		}
	}
	return 0
}

// simUnitMax is how much larger than a commit a single unit may be where commits are very small.
const simUnitMax = 2 << 10

// Append implements Log. The commit at which the process dies is durable or lost.
func (w *world) Append(epoch uint64, batch []byte) (job.Position, error) {
	dies := w.fate == 0
	if w.fate--; w.fate < -1 {
		w.fate = -1
	}
	if dies && w.lose {
		return job.Position{}, errDied
	}
	if len(batch) > w.plan.commitMax+simUnitMax {
		w.model.fail("log", nil, "a commit has %d bytes; at most %d are allowed", len(batch), w.plan.commitMax)
	}
	at := job.Position{LSN: w.store.Applied().LSN + 1, Epoch: epoch}
	if w.releases.old {
		w.releases.olds[epoch] = true
	}
	batch, err := w.releases.written(epoch, batch)
	if err != nil {
		w.model.fail("log", nil, "%v", err)
	}
	rows, err := readModelRows(batch)
	if err != nil {
		w.model.fail("log", nil, "%v", err)
	}
	w.mix(at.LSN, uint64(w.stepAt))
	_, _ = w.hash.Write(batch)
	w.commits++
	if delay := w.plan.delay(w.rng, w.commits > 1); delay > 0 && w.wall() == w.stepAt {
		w.model.presence.stand(w.wall())
		w.waitFor(delay)
	}
	w.model.commit(&modelCommit{lsn: at.LSN, at: w.stepAt, end: w.wall(), rows: rows})
	w.send(at, batch)
	if dies {
		w.tail = slices.Clone(batch)
		return job.Position{}, errDied
	}
	return at, nil
}

// mix adds numbers to the fingerprint by which two runs of one seed are compared.
func (w *world) mix(numbers ...uint64) {
	var b [8]byte
	for _, n := range numbers {
		binary.LittleEndian.PutUint64(b[:], n)
		_, _ = w.hash.Write(b[:])
	}
}

// checkLoaded compares what the process knows after a start with what it knew before its death.
func (w *world) checkLoaded() {
	old, c := w.last, w.engine.core.Inspect()
	if w.last = nil; old == nil {
		return
	}
	fail := func(format string, args ...any) { w.model.fail("loaded", nil, format, args...) }
	if c.NextID != old.NextID || c.SlotsFrom != old.SlotsFrom {
		fail("next id %d, slots from %d; were %d, %d", c.NextID, c.SlotsFrom, old.NextID, old.SlotsFrom)
	}
	if c.PrunedDay != old.PrunedDay || c.Notices != old.Notices || c.Notices != len(w.model.outbox) {
		fail("pruned %d, outbox %d; was %d, %d", c.PrunedDay, c.Notices, old.PrunedDay, old.Notices)
	}
	for id, j := range old.Jobs {
		if timer := c.Jobs[id].Timer; timer != j.Timer {
			fail("timer %+v of job %s, was %+v", timer, id, j.Timer)
		}
	}
	if len(c.Jobs) != len(old.Jobs) || !maps.Equal(c.Streaks, old.Streaks) {
		fail("%d jobs, %d streaks; were %d, %d", len(c.Jobs), len(c.Streaks), len(old.Jobs), len(old.Streaks))
	}
	if !maps.Equal(c.Live, old.Live) {
		fail("%d live runs; were %d, or they differ", len(c.Live), len(old.Live))
	}
	if !maps.EqualFunc(c.Debts, old.Debts, slices.Equal) {
		fail("%d debts; were %d, or they differ", len(c.Debts), len(old.Debts))
	}
}
