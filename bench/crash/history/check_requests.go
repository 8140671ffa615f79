package history

import "strings"

// checkRefusals looks for answers that no client of this program should ever get.
func checkRefusals(ix *index, f *Finding) {
	for _, name := range ix.names {
		doubt := false // an op before had an unknown outcome
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

// isExpected tells whether a refusal has a reason. That a job is missing or exists is judged by the
// states that are possible, not here.
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

// isNoAnswer tells whether an unknown outcome was an answer of the server that makes no sense, rather
// than the lack of one.
func isNoAnswer(code string) bool {
	return strings.HasPrefix(code, "internal") || strings.HasPrefix(code, codeUnreadable) || strings.HasPrefix(code, "result ")
}

// checkTriggers looks for idempotency keys that stand for two runs.
func checkTriggers(ix *index, f *Finding) {
	for _, name := range ix.names {
		runs := make(map[string]string) // by key
		same := func(key, run, where string) {
			if key == "" || run == "" {
				return
			}
			f.Examined++
			if first, ok := runs[key]; ok && first != run {
				f.fail(name, "key %s is run %s and, %s, run %s", key, first, where, run)
				return
			}
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

// checkManualRuns compares the runs of manual jobs with the triggers.
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
		asked := make(map[string]bool) // keys; a trigger without one counts for itself
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
			if _, ok := listed[op.RunID]; op.Outcome == acked && !ok {
				f.fail(name, "trigger %d was acknowledged as run %s, which is lost", op.ID, op.RunID)
			}
		}
		delete(asked, "")
		if most := len(asked) + keyless; len(listed) > most {
			f.fail(name, "has %d runs; at most %d were asked for", len(listed), most)
		}
	}
}

func checkEpochs(ix *index, f *Finding) {
	for i := 1; i < len(ix.Starts); i++ {
		f.Examined++
		if before, after := ix.Starts[i-1].Epoch, ix.Starts[i].Epoch; after <= before {
			f.fail("", "the start at %s has epoch %d, the one before it %d", ix.Starts[i].Ready, after, before)
		}
	}
	for i := 1; i < len(ix.Readings); i++ {
		f.Examined++
		if before, after := ix.Readings[i-1], ix.Readings[i]; after.LSN < before.LSN {
			f.fail("", "the log was at LSN %d at %s and at %d at %s", before.LSN, before.At, after.LSN, after.At)
		}
	}
}

func checkProcess(ix *index, f *Finding) {
	f.Examined = len(ix.Starts) + len(ix.Deaths)
	for _, s := range ix.Surprises {
		f.fail("", "%s", s)
	}
}

func checkLog(ix *index, f *Finding) {
	f.Examined = 1
	if ix.Final.Log != "" {
		f.fail("", "%s", ix.Final.Log)
	}
}
