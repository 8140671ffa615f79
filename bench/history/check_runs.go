package history

import (
	"slices"
	"time"
)

// The checks in this file are for the runs that the server lists at the end.

// checkOneShots checks that the tick of every one-shot that was not deleted or replaced has fired. A one-shot whose
// definition changed counts with its last one.
func checkOneShots(ix *index, f *Finding) {
	for _, name := range ix.names {
		seen, there := ix.Final.Jobs[name]
		op := ix.op(seen.Mark)
		if !there || op == nil || op.Spec == nil || op.Spec.Kind != oneShot {
			continue
		}
		if seen.Status == "paused" || op.Spec.Due > ix.Final.Horizon {
			continue
		}
		f.Examined++
		ix.checkOneShot(f, name, op)
	}
}

// checkOneShot checks one one-shot, whose last definition is that of op.
func (ix *index) checkOneShot(f *Finding, name string, op *Op) {
	due := op.Spec.Due
	at := slices.IndexFunc(ix.Final.Runs[name], func(r Run) bool { return r.Scheduled == due })
	if at < 0 {
		f.fail(name, "was due %s and has no run", due)
		return
	}
	run := ix.Final.Runs[name][at]
	switch {
	case run.Status == "succeeded":
		if !ix.wasReceived(name, run.ID) && !ix.Lossy[op.Spec.Target] {
			f.fail(name, "was due %s; its run %s succeeded, but never arrived", due, run.ID)
		}
	case run.Status == "skipped" && ix.mayBeSkipped(name, run, op):
	default:
		f.fail(name, "was due %s; its run %s is %s (%s), attempt %d %s", due, run.ID, run.Status, run.Reason, run.Attempt, run.Error)
	}
}

// mayBeSkipped reports whether a one-shot's tick may have been skipped: because of a pause before its launch, because a
// run of the same job was in progress, or because a change took the tick away and a later one named the same instant
// again, since a tick that has its outcome is not decided anew.
func (ix *index) mayBeSkipped(name string, run Run, op *Op) bool {
	switch run.Reason {
	case "paused":
		// A registration without an answer may have taken effect long after its instant, so it is unknown when its run was launched.
		return slices.ContainsFunc(ix.ops[name], func(o *Op) bool {
			return pauses(o) && o.Outcome != refused && (op.Outcome == unknown || o.Invoked <= ix.launched(run.Scheduled))
		})
	case "overlap":
		return op.Spec.Overlap == "skip" && len(ix.Final.Runs[name]) > 1
	case "superseded":
		return ix.cameBack(name, run.Scheduled)
	default:
		return false
	}
}

// cameBack reports whether a one-shot was registered for an instant, then for another one, and then for that instant
// again. Instants are drawn in milliseconds, so that happens by chance.
func (ix *index) cameBack(name string, due Instant) bool {
	changes := 0
	for _, o := range ix.ops[name] {
		switch {
		case o.Kind != opPut || o.Outcome == refused || o.Spec == nil:
		case changes == 0 && o.Spec.Due == due, changes == 1 && o.Spec.Due != due, changes == 2 && o.Spec.Due == due:
			changes++
		}
	}
	return changes == 3
}

// launchWait is the longest time that a due run may wait for its launch on a busy machine. It is not a promise of
// the product, but the bound of what this check can tell from a pause that came too late.
const launchWait = time.Second

// launched returns the instant by which a run that was due at due was certainly launched: soon after due or, if the
// server was down or went down before it, after the next start. A network that is healed costs NATS an election, so
// what is due before everything is level again may wait until then. The pause of a job before that instant may have
// skipped the run.
func (ix *index) launched(due Instant) Instant {
	for _, d := range ix.Deaths {
		up := slices.IndexFunc(ix.Starts, func(s Start) bool { return s.Ready > d.Gone })
		if up >= 0 && due >= d.Sent.Add(-launchWait) && due <= ix.Starts[up].Ready {
			return ix.Starts[up].Ready.Add(launchWait)
		}
	}
	for _, f := range ix.Faults {
		switch {
		case due >= f.From.Add(-launchWait) && due <= f.Served:
			return f.Served.Add(launchWait)
		case due > f.Served && due <= f.Healed:
			return f.Healed.Add(launchWait)
		}
	}
	return due.Add(launchWait)
}

// wasReceived reports whether a run arrived at a target.
func (ix *index) wasReceived(name, runID string) bool {
	return slices.ContainsFunc(ix.deliveries[name], func(d *Delivery) bool { return d.RunID == runID })
}

// checkTicks enumerates the ticks of recurring jobs. Each tick must have a run or be in a skipped range. Ticks of
// the time before the registration and after the final read are in doubt by one step, and not demanded.
func checkTicks(ix *index, f *Finding) {
	for _, name := range ix.names {
		spec := ix.spec(name)
		seen, there := ix.Final.Jobs[name]
		if !there || spec == nil || spec.Step == 0 {
			continue
		}
		g := grid{ix: ix, f: f, name: name, step: Instant(spec.Step / time.Microsecond), aligned: spec.Kind == cron}
		g.check(seen.Status == "active")
	}
}

// grid checks the ticks of one recurring job, which are a fixed step apart. The ticks are computed here, from the step
// alone, so that a bug in the product's own calendar cannot hide.
type grid struct {
	ix   *index
	f    *Finding
	name string
	// step is at least a tenth of a second, so positions on the grid do not come near the rounding of ticks.
	step    Instant
	aligned bool // ticks are multiples of the step; otherwise they count from the registration
}

// check compares the runs that the server lists with the ticks that the schedule has. active says that the job still
// ticked at the end. The runs must cover the grid without a gap and without an extra instant, whatever was decided for
// each tick.
func (g *grid) check(active bool) {
	runs := slices.Clone(g.ix.Final.Runs[g.name])
	runs = slices.DeleteFunc(runs, func(r Run) bool { return r.Manual })
	slices.SortFunc(runs, func(a, b Run) int { return int(a.Scheduled - b.Scheduled) })
	runs = slices.CompactFunc(runs, func(a, b Run) bool { return a.ID == b.ID }) // checkRuns reports duplicates
	last := Instant(0)
	for i, run := range runs {
		end := max(run.Scheduled, run.Until)
		g.f.Examined += 1 + int((end-run.Scheduled)/g.step)
		g.checkShape(run, end)
		if i == 0 {
			g.checkFirst(run.Scheduled)
		} else if gap := run.Scheduled - last; gap > g.step {
			g.f.fail(g.name, "%d ticks are lost between %s and %s", gap/g.step-1, last, run.Scheduled)
		} else if gap < g.step {
			g.f.fail(g.name, "run %s, due %s, comes %d µs after the tick %s; one in %d µs is right", run.ID, run.Scheduled, gap, last, g.step)
		}
		// A skipped range stands for all ticks up to its end, so the next one is a step after that.
		last = end
	}
	reborn := len(runs) == 0 && g.ix.rebornAfter(g.name, 0) // perhaps at the end, so that no tick is due yet
	if first := g.firstAck(); active && !reborn && max(last, first) < g.ix.Final.Horizon-g.step {
		g.f.fail(g.name, "has no tick after %s, although active until %s", last, g.ix.Final.Horizon)
	}
}

// checkShape checks one run, or one skipped range, without the others.
func (g *grid) checkShape(run Run, end Instant) {
	if g.aligned && run.Scheduled%g.step != 0 {
		g.f.fail(g.name, "run %s is due %s, off its schedule", run.ID, run.Scheduled)
	}
	if (end-run.Scheduled)%g.step != 0 {
		g.f.fail(g.name, "the range from %s to %s is no whole number of ticks", run.Scheduled, end)
	}
	if run.Until != 0 && run.Status != "skipped" {
		g.f.fail(g.name, "run %s is a range, and %s", run.ID, run.Status)
	}
}

// checkFirst checks that the first tick is within one step after the registration. Ticks are whole milliseconds, so
// the time of the request is rounded down before the comparison.
func (g *grid) checkFirst(first Instant) {
	if asked := g.ix.ops[g.name][0].Invoked; first < asked/1000*1000 {
		g.f.fail(g.name, "has a tick at %s, before it was registered at %s", first, asked)
	}
	if at := g.firstAck(); at != 0 && first > at+g.step {
		g.f.fail(g.name, "has its first tick at %s, although registered at %s", first, at)
	}
}

// firstAck returns when the first put of the job was acknowledged; 0 if none was, and if the job may have been deleted
// and created again since.
func (g *grid) firstAck() Instant {
	for _, op := range g.ix.ops[g.name] {
		if op.Kind == opPut && op.Outcome == acked && !g.ix.rebornAfter(g.name, op.Returned) {
			return op.Returned
		}
	}
	return 0
}

// checkRuns checks that every run that was due has ended, and is listed once.
func checkRuns(ix *index, f *Finding) {
	for _, name := range ix.names {
		listed := make(map[string]Run)
		for _, run := range ix.Final.Runs[name] {
			f.Examined++
			first, twice := listed[run.ID]
			listed[run.ID] = run
			switch {
			case twice:
				f.fail(name, "run %s, due %s, is listed twice, as %s and as %s", run.ID, run.Scheduled, first.Status, run.Status)
			case !run.isFinal() && run.Scheduled < ix.Final.Horizon:
				f.fail(name, "run %s, due %s, is still %s", run.ID, run.Scheduled, run.Status)
			case run.Status == "cancelled" && ix.cancelsOthers(name):
			case run.Status == "dead" || run.Status == "failed" || run.Status == "cancelled":
				f.fail(name, "run %s, due %s, is %s after %d attempts: %s", run.ID, run.Scheduled, run.Status, run.Attempt, run.Error)
			}
		}
	}
}

// cancelsOthers reports whether a job has the overlap policy cancel_other. Only such a job may have cancelled runs,
// because the load cancels none by itself.
func (ix *index) cancelsOthers(name string) bool {
	spec := ix.spec(name)
	return spec != nil && spec.Overlap == "cancel_other"
}

// checkReceipts compares the deliveries with the runs that the server lists. A success without a delivery means that
// the server took an outcome for granted; a delivery without a run means that it launched what it did not record.
func checkReceipts(ix *index, f *Finding) {
	for _, name := range ix.names {
		if _, there := ix.Final.Jobs[name]; !there {
			continue // the job is deleted, so its runs cannot be listed
		}
		listed := make(map[string]Run)
		for _, run := range ix.Final.Runs[name] {
			listed[run.ID] = run
		}
		arrived := make(map[string]bool)
		for _, d := range ix.deliveries[name] {
			f.Examined++
			arrived[d.RunID] = true
			run, ok := listed[d.RunID]
			switch {
			case !ok && d.Arrived >= ix.Final.At:
				// The final read may have been complete by then.
			case !ok && ix.rebornAfter(name, d.Arrived):
				// The run was that of a job of this name that was deleted.
			case !ok:
				f.fail(name, "run %s, due %s, arrived at %s and is not listed", d.RunID, d.Scheduled, d.Arrived)
			case run.Status == "skipped" && !ix.interrupted(d.Arrived, never):
				f.fail(name, "run %s, due %s, is skipped (%s) and arrived at %s", d.RunID, d.Scheduled, run.Reason, d.Arrived)
			}
		}
		if spec := ix.spec(name); spec == nil || ix.Lossy[spec.Target] {
			continue
		}
		for _, run := range ix.Final.Runs[name] {
			if run.Status == "succeeded" && !arrived[run.ID] {
				f.fail(name, "run %s, due %s, succeeded and never arrived", run.ID, run.Scheduled)
			}
		}
	}
}
