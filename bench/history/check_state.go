package history

// The checks in this file compare the state of the server at the end with the states that are possible.

// eachFinal calls fn for each job with its possible states and the state that the server showed at the end.
// Contradictions on the way are left to checkReplies.
func (ix *index) eachFinal(fn func(name string, may states, seen JobState, there bool)) {
	for _, name := range ix.names {
		if ix.spec(name) == nil {
			continue
		}
		may := ix.trace(ix.ops[name], func(*Op, string) {})
		seen, there := ix.Final.Jobs[name]
		fn(name, may, seen, there)
	}
}

// anyOf reports whether at least one possible state has a property.
func (s states) anyOf(has func(state) bool) bool {
	for one := range s {
		if has(one) {
			return true
		}
	}
	return false
}

// isThere and isGone are the two properties by which registrations and deletes are judged.
func isThere(s state) bool { return s.exists }

// isGone is the opposite.
func isGone(s state) bool { return !s.exists }

// checkRegistrations checks that a job which must exist does, and that no job exists which cannot. A job that may
// be gone, such as after a delete without an answer, proves nothing here.
func checkRegistrations(ix *index, f *Finding) {
	ix.eachFinal(func(name string, may states, seen JobState, there bool) {
		if may.anyOf(isGone) {
			return
		}
		f.Examined++
		if !there {
			f.fail(name, "was acknowledged and is lost")
		}
	})
	for name := range ix.Final.Jobs {
		if ix.spec(name) == nil {
			f.fail(name, "exists, although no client ever registered it")
		}
	}
}

// checkDeletes checks that a job which cannot exist any more does not.
func checkDeletes(ix *index, f *Finding) {
	ix.eachFinal(func(name string, may states, seen JobState, there bool) {
		if may.anyOf(isThere) {
			return
		}
		f.Examined++
		if there {
			f.fail(name, "is there, at version %d: its delete was acknowledged, or its registration never took effect", seen.Version)
		}
	})
}

// checkDefinitions checks that the definition at the end is a possible one, and that the version is not
// below one that was acknowledged.
func checkDefinitions(ix *index, f *Finding) {
	ix.eachFinal(func(name string, may states, seen JobState, there bool) {
		if !there || !may.anyOf(isThere) {
			return // checkRegistrations and checkDeletes report it
		}
		f.Examined++
		if !may.anyOf(func(s state) bool { return s.exists && s.mark == seen.Mark }) {
			f.fail(name, "has the definition of request %d at version %d, which cannot be the latest", seen.Mark, seen.Version)
		}
		if latest := latestVersion(ix.ops[name]); seen.Version < latest {
			f.fail(name, "is at version %d; version %d was acknowledged", seen.Version, latest)
		}
	})
}

// latestVersion returns the highest version that a reply has shown since the job was deleted last, or may have been: versions begin
// again in a job that is put after that, also by a put whose outcome is unknown, which may take effect late.
func latestVersion(ops []*Op) int {
	latest := 0
	for _, op := range ops {
		switch {
		case op.Kind == opDelete && op.Outcome != refused:
			latest = 0
		case op.Outcome == acked:
			latest = max(latest, op.Version)
		}
	}
	return latest
}

// checkPauses checks that the status at the end is a possible one, and that no run was launched during
// an acknowledged pause.
func checkPauses(ix *index, f *Finding) {
	ix.eachFinal(func(name string, may states, seen JobState, there bool) {
		ofMark := func(s state) bool { return s.exists && s.mark == seen.Mark }
		if !there || !may.anyOf(ofMark) {
			return
		}
		f.Examined++
		if !may.anyOf(func(s state) bool { return s.matches(seen) }) {
			f.fail(name, "is %s, against what was acknowledged", seen.Status)
		}
	})
	for _, name := range ix.names {
		ix.checkPausedWindows(name, f)
	}
}

// checkPausedWindows looks for launches between an acknowledged pause and the next request that may have ended it. A
// tick that was due before the acknowledgement may still arrive after it. The pause must be certain and its end
// unknown at most, otherwise the window is empty.
func (ix *index) checkPausedWindows(name string, f *Finding) {
	for i, op := range ix.ops[name] {
		if op.Outcome != acked || !pauses(op) || ix.mayBeUndone(name, i) {
			continue
		}
		end := ix.resumed(name, i)
		f.Examined++
		for _, d := range ix.deliveries[name] {
			if d.Scheduled > op.Returned && d.Arrived < end {
				f.fail(name, "run %s, due %s, was launched while paused since %s", d.RunID, d.Scheduled, op.Returned)
			}
		}
		for _, run := range ix.runsAfter(name, op.Returned, end) {
			f.fail(name, "run %s, due %s, is %s although paused since %s", run.ID, run.Scheduled, run.Status, op.Returned)
		}
	}
}

// pauses reports whether a request pauses its job, if it takes effect.
func pauses(op *Op) bool { return op.Kind == opPause || op.Kind == opPut && op.Spec.Paused }

// resumes reports whether a request ends a pause of its job, if it takes effect. Each put decides anew.
func resumes(op *Op) bool { return op.Kind == opResume || op.Kind == opPut && !op.Spec.Paused }

// mayBeUndone reports whether a request before a pause may still take effect after the pause, and end
// it.
func (ix *index) mayBeUndone(name string, i int) bool {
	ops := ix.ops[name]
	for _, earlier := range ops[:i] {
		if resumes(earlier) && earlier.Outcome != refused && !ix.surelyBefore(earlier, ops[i]) {
			return true
		}
	}
	return false
}

// resumed returns the earliest instant at which a request after the i-th may have ended its pause.
func (ix *index) resumed(name string, i int) Instant {
	for _, later := range ix.ops[name][i+1:] {
		if resumes(later) && later.Outcome != refused {
			return later.Invoked
		}
	}
	return never
}

// runsAfter returns the runs between two instants, without skipped ones.
func (ix *index) runsAfter(name string, after, end Instant) []Run {
	if end != never || ix.Final == nil {
		return nil
	}
	var runs []Run
	for _, run := range ix.Final.Runs[name] {
		if run.Scheduled > after && run.Status != "skipped" && !run.Manual {
			runs = append(runs, run)
		}
	}
	return runs
}

// checkReplies checks that each reply is consistent with all replies before it, and that versions grow.
func checkReplies(ix *index, f *Finding) {
	for _, name := range ix.names {
		f.Examined += len(ix.ops[name])
		ix.trace(ix.ops[name], func(op *Op, was string) {
			f.fail(name, "request %d (%s) was answered %s %s at %s, but %s", op.ID, op.Kind, op.Outcome, op.Code, op.Returned, was)
		})
		highest := 0
		for _, op := range ix.ops[name] {
			if op.Kind != opPut || op.Outcome != acked {
				continue
			}
			if op.Version <= highest {
				f.fail(name, "request %d made version %d, after version %d", op.ID, op.Version, highest)
			}
			highest = op.Version
		}
	}
}
