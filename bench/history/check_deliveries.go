package history

import "iter"

// The checks in this file are for deliveries at the targets. They do not need the final read.

// checkIdentity looks for a scheduled time of a job that has two run ids, and for a run id that has two
// scheduled times. It ignores manual runs, two of which may begin in the same millisecond.
func checkIdentity(ix *index, f *Finding) {
	times := make(map[string]Instant) // by run id, over all jobs
	owners := make(map[string]string)
	for _, name := range ix.names {
		ids := make(map[Instant]string)
		same := func(id string, at Instant, isManual bool) {
			f.Examined++
			if first, ok := ids[at]; ok && first != id && !isManual {
				f.fail(name, "is due %s as run %s and as run %s", at, first, id)
			}
			ids[at] = id
			// Across jobs as well: a run id is unique in the whole server.
			if first, ok := times[id]; ok && (first != at || owners[id] != name) {
				f.fail(name, "run %s is due %s, and %s of job %s", id, at, first, owners[id])
			}
			times[id], owners[id] = at, name
		}
		spec := ix.spec(name)
		for _, d := range ix.deliveries[name] {
			same(d.RunID, d.Scheduled, spec != nil && spec.Kind == manual)
		}
		if ix.Final != nil {
			for _, run := range ix.Final.Runs[name] {
				same(run.ID, run.Scheduled, run.Manual)
			}
		}
	}
}

// checkEarly checks that no delivery arrived before its scheduled time. Both are times of the same clock, so there is
// no tolerance. It is the promise that no load and no fault excuses.
func checkEarly(ix *index, f *Finding) {
	for i := range ix.Deliveries {
		d := &ix.Deliveries[i]
		f.Examined++
		if d.Arrived < d.Scheduled {
			f.fail(d.Job, "run %s was due %s and arrived %s early", d.RunID, d.Scheduled, d.Scheduled.Sub(d.Arrived))
		}
	}
}

// checkSchedule checks that each delivery is complete, and that a client has put its definition and its
// tick. A delivery that nothing asked for would be a run of another job, or of a request that was refused.
func checkSchedule(ix *index, f *Finding) {
	for i := range ix.Deliveries {
		d := &ix.Deliveries[i]
		f.Examined++
		op := ix.op(d.Mark)
		switch {
		case d.RunID == "" || d.Scheduled == 0 || d.Attempt < 1 || d.Fence == 0:
			f.fail(d.Job, "a delivery on %s lacks headers: run %q, due %s, attempt %d, fence %d", d.Target, d.RunID, d.Scheduled, d.Attempt, d.Fence)
		case op == nil || op.Job != d.Job || op.Kind != opPut && op.Kind != opTrigger:
			f.fail(d.Job, "run %s has the payload of request %d, which is none of this job", d.RunID, d.Mark)
		case op.Outcome == refused:
			f.fail(d.Job, "run %s is of request %d, which was refused", d.RunID, d.Mark)
		case op.Spec != nil && op.Spec.Kind == oneShot && !ix.hasDue(d):
			f.fail(d.Job, "run %s is due %s, which no registration asked for", d.RunID, d.Scheduled)
		case op.Spec != nil && op.Spec.Target != d.Target:
			f.fail(d.Job, "run %s came by %s instead of %s", d.RunID, d.Target, op.Spec.Target)
		}
	}
}

// hasDue reports whether a put of the delivery's job has its tick. Any put of the job counts, whatever its outcome,
// because a refused one is reported by another case.
func (ix *index) hasDue(d *Delivery) bool {
	for _, op := range ix.ops[d.Job] {
		if op.Spec != nil && op.Spec.Due == d.Scheduled {
			return true
		}
	}
	return false
}

// checkStale looks for runs that were due after a newer definition, or a delete, was acknowledged. It checks both the
// definition that was delivered and the one that has the tick. A run that was due before the change is allowed,
// because it may have been launched already.
func checkStale(ix *index, f *Finding) {
	for i := range ix.Deliveries {
		d := &ix.Deliveries[i]
		of := ix.op(d.Mark)
		if of == nil || of.Kind != opPut {
			continue
		}
		f.Examined++
		// The payload shows the definition that was delivered, the time the one that has the tick; both must still
		// hold.
		for _, asked := range []*Op{of, ix.askedFor(d)} {
			if by := ix.replaced(asked, d.Scheduled); by != nil {
				f.fail(d.Job, "run %s, due %s, is of request %d; request %d (%s) was acknowledged at %s", d.RunID, d.Scheduled, asked.ID, by.ID, by.Kind, by.Returned)
				break
			}
		}
	}
}

// askedFor returns the last put that has the tick of a one-shot's delivery, nil if there is none.
func (ix *index) askedFor(d *Delivery) *Op {
	var last *Op
	for _, op := range ix.ops[d.Job] {
		if op.Kind == opPut && op.Spec.Kind == oneShot && op.Spec.Due == d.Scheduled && op.Outcome != refused {
			last = op
		}
	}
	return last
}

// replaced returns a change that was acknowledged before an instant and certainly took effect after a
// put; nil if there is none.
func (ix *index) replaced(put *Op, before Instant) *Op {
	if put == nil {
		return nil
	}
	for _, op := range ix.ops[put.Job] {
		changes := op.Kind == opPut || op.Kind == opDelete
		if changes && op.Outcome == acked && op.ID > put.ID && op.Returned < before && ix.surelyBefore(put, op) {
			return op
		}
	}
	return nil
}

// checkAttempts checks the attempts of each run in the order of arrival. In a cluster it needs the logs, which say to
// which leadership a delivery belongs. Deliveries that the network delayed, and those of an older leadership, may
// arrive out of order.
func checkAttempts(ix *index, f *Finding) {
	for name, pair := range ix.repeats(f) {
		switch a, b := pair[0], pair[1]; {
		case ix.isFarewell(a, b) || ix.wasHeld(b):
		case b.Attempt < a.Attempt:
			f.fail(name, "run %s: attempt %d arrived at %s after attempt %d", b.RunID, b.Attempt, b.Arrived, a.Attempt)
		case b.Fence < a.Fence || b.Attempt > a.Attempt && b.Fence == a.Fence:
			f.fail(name, "run %s: attempt %d, which arrived at %s, has fence %d, after attempt %d with fence %d", b.RunID, b.Attempt, b.Arrived, b.Fence, a.Attempt, a.Fence)
		}
	}
}

// repeats yields each two deliveries of a run of which one follows the other, with the name of the job, and counts them as
// examined. In a cluster without logs there are none.
func (ix *index) repeats(f *Finding) iter.Seq2[string, [2]*Delivery] {
	return func(yield func(string, [2]*Delivery) bool) {
		if ix.Cluster && ix.reigns == nil {
			return
		}
		for _, name := range ix.names {
			for _, ds := range byRun(ix.deliveries[name]) {
				for i := 1; i < len(ds); i++ {
					f.Examined++
					if !yield(name, [2]*Delivery{ds[i-1], ds[i]}) {
						return
					}
				}
			}
		}
	}
}

// isFarewell reports whether a delivery in a cluster belongs to an older leadership than the delivery
// before it, or may do so because no log reaches back so far. The check "old reigns" examines these.
func (ix *index) isFarewell(before, d *Delivery) bool {
	reigns := ix.reignsOf(d.Job)
	of := reignOf(reigns, d.Fence)
	return ix.Cluster && (of < 0 || of < reignOf(reigns, before.Fence))
}

// checkDuplicates checks that each delivery of a run after its first has a reason. Duplicates that faults explain
// are counted in the report, and are no violation.
func checkDuplicates(ix *index, f *Finding) {
	for name, pair := range ix.repeats(f) {
		if a, b := pair[0], pair[1]; !ix.explains(a, b) {
			f.fail(name, "run %s arrived at %s (attempt %d) and again at %s (attempt %d) without a reason",
				b.RunID, a.Arrived, a.Attempt, b.Arrived, b.Attempt)
		}
	}
}

// explains reports whether the delivery a of a run is a reason for the next one, b. Each reason is something that the
// server cannot prevent; see the package comment.
func (ix *index) explains(a, b *Delivery) bool {
	return a.Refused || ix.interrupted(a.Arrived, b.Arrived) || b.Arrived.Sub(a.Arrived) >= attemptTimeout ||
		ix.isFarewell(a, b) || ix.takenOver(a, b) || ix.wasHeld(b)
}

// takenOver reports whether the leader that launched a was replaced before it could record the outcome,
// and a later leader launched the run again as b.
func (ix *index) takenOver(a, b *Delivery) bool {
	reigns := ix.reignsOf(a.Job)
	for n := reignOf(reigns, a.Fence) + 1; n <= reignOf(reigns, b.Fence); n++ {
		if first := reigns[n].First; first != 0 && first.Sub(a.Arrived) <= inFlightWindow {
			return true
		}
	}
	return false
}

// checkStream checks the stronger promise of the jetstream target: within the stream's duplicate window
// a run is stored exactly once. An exception is a stream on several servers, which forgets messages in
// flight when its leader changes.
func checkStream(ix *index, f *Finding) {
	for _, name := range ix.names {
		for _, ds := range byRun(ix.deliveries[name]) {
			if ds[0].Target != "jetstream" {
				continue
			}
			f.Examined++
			if len(ds) > 1 && ix.faultsBetween(ds[0].Arrived, ds[len(ds)-1].Arrived) == 0 {
				f.fail(name, "run %s is in the stream %d times", ds[0].RunID, len(ds))
			}
		}
	}
}
