package history

import "strings"

// checkRefusals looks for refusals that have no reason. The load sends valid requests only, so a refusal for
// another reason than the state of the job is a fault.
func checkRefusals(ix *index, f *Finding) {
	for _, name := range ix.names {
		doubt := false // whether an earlier op had an unknown outcome
		for _, op := range ix.ops[name] {
			switch op.Outcome {
			case refused:
				f.Examined++
				if !isExpected(op, doubt) {
					f.fail(name, "request %d (%s) was refused: %s", op.ID, op.Kind, op.Code)
				}
			case unknown:
				f.Examined++
				doubt = true
				if isNoAnswer(op.Code) {
					f.fail(name, "request %d (%s) failed: %s", op.ID, op.Kind, op.Code)
				}
			}
		}
	}
}

// isExpected reports whether a refusal has a reason. The check of the states decides about refusals because a job
// exists or does not. A conflict of versions is a fault if the client knew the version for certain.
func isExpected(op *Op, doubt bool) bool {
	switch op.Code {
	case codeNobody, codeNotLeader, codeNotFound, codeExists:
		return true
	case codeConflict:
		return doubt
	default:
		return false
	}
}

// isNoAnswer reports whether the unknown outcome of an op comes from an invalid answer, rather than from
// the lack of an answer.
func isNoAnswer(code string) bool {
	return strings.HasPrefix(code, "internal") || strings.HasPrefix(code, codeUnreadable) || strings.HasPrefix(code, "result ")
}

// checkTriggers looks for idempotency keys with two runs. The key is what makes a trigger safe to repeat, so the
// check compares replies with deliveries as well.
func checkTriggers(ix *index, f *Finding) {
	for _, name := range ix.names {
		runs := make(map[string]string) // run ids by key
		same := func(key, run, where string) {
			// A delivery of a trigger without a key, or a reply without a run, says nothing here.
			if key == "" || run == "" {
				return
			}
			f.Examined++
			if first, ok := runs[key]; ok && first != run {
				f.fail(name, "key %s is run %s and, %s, run %s", key, first, where, run)
				return
			}
			// The first run of a key, whichever of the two sources names it first.
			runs[key] = run
		}
		for _, op := range ix.ops[name] {
			if op.Kind == opTrigger && op.Outcome == acked {
				same(op.Key, op.RunID, "in a reply")
			}
		}
		for _, d := range ix.deliveries[name] {
			if op := ix.op(d.Mark); op != nil && op.Kind == opTrigger {
				same(op.Key, d.RunID, "in a delivery")
			}
		}
	}
}

// checkManualRuns compares the runs of manual jobs with the triggers. Triggers without a key may each have fired, also
// those without an answer; triggers with one key are one run at most.
func checkManualRuns(ix *index, f *Finding) {
	for _, name := range ix.names {
		if spec := ix.spec(name); spec == nil || spec.Kind != manual {
			continue
		}
		listed := make(map[string]Run)
		for _, run := range ix.Final.Runs[name] {
			listed[run.ID] = run
			if !run.Manual {
				f.fail(name, "run %s, due %s, is of the schedule, whose tick is far ahead", run.ID, run.Scheduled)
			}
		}
		asked := make(map[string]bool) // keys; a trigger without a key has an entry of its own
		keyless := 0
		for _, op := range ix.ops[name] {
			if op.Kind != opTrigger || op.Outcome == refused {
				continue
			}
			f.Examined++
			if op.Key == "" {
				keyless++
			}
			asked[op.Key] = op.Key != ""
			if _, ok := listed[op.RunID]; op.Outcome == acked && !ok && !ix.rebornAfter(name, op.Invoked) {
				f.fail(name, "trigger %d was acknowledged as run %s, which is lost", op.ID, op.RunID)
			}
		}
		// Triggers without a key are counted one by one.
		delete(asked, "")
		if most := len(asked) + keyless; len(listed) > most {
			f.fail(name, "has %d runs; at most %d were asked for", len(listed), most)
		}
	}
}

// checkEpochs checks that the epochs of a shard grow with each start, and that its LSNs never fall.
func checkEpochs(ix *index, f *Finding) {
	starts := make(map[int]Start) // the last one of each shard
	for _, s := range ix.Starts {
		before, ok := starts[s.Shard]
		if starts[s.Shard] = s; !ok {
			continue
		}
		if f.Examined++; s.Epoch <= before.Epoch {
			f.fail("", "%sthe start at %s has epoch %d, the one before it %d", ix.in(s.Shard), s.Ready, s.Epoch, before.Epoch)
		}
	}
	readings := make(map[int]Reading)
	for _, r := range ix.Readings {
		before, ok := readings[r.Shard]
		if readings[r.Shard] = r; !ok {
			continue
		}
		if f.Examined++; r.LSN < before.LSN {
			f.fail("", "%sthe log was at LSN %d at %s and at %d at %s", ix.in(r.Shard), before.LSN, before.At, r.LSN, r.At)
		}
	}
}

// checkProcess reports the failures of processes that the recorder was told of. Each of them is a violation without a
// job.
func checkProcess(ix *index, f *Finding) {
	f.Examined = len(ix.Starts) + len(ix.Deaths)
	for _, s := range ix.Surprises {
		f.fail("", "%s", s)
	}
}

// checkLog reports the complaint of `wal verify` about the log at the end.
func checkLog(ix *index, f *Finding) {
	f.Examined = 1
	if ix.Final.Log != "" {
		f.fail("", "%s", ix.Final.Log)
	}
}
