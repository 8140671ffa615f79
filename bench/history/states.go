package history

import "maps"

// state is a possible state of one job on the server. It has what requests change and replies show, and nothing
// else: the schedule is checked by other means.
type state struct {
	// mark and paused are zero if the job does not exist.
	exists bool
	mark   int // mark of the definition: the number of its put
	paused bool
}

// states is the set of possible states of one job, given the answers that its client received. If every request was
// answered, it has one element. A request without an answer adds the states in which it took effect. The sets stay
// small, because each client sends one request at a time and few are unanswered. The approach is that of a
// linearizability check, reduced to one job with one sequential client.
type states map[state]struct{}

// contradiction is the function that is called for a reply that no possible state explains.
type contradiction func(op *Op, text string)

// trace processes the requests of one job in order, and returns the possible states after the last. After a
// contradiction it continues with a plausible state, so that one fault is reported once.
func (ix *index) trace(ops []*Op, report contradiction) states {
	now := states{{}: {}}
	var open []*Op // requests without an answer that may still take effect
	for _, op := range ops {
		// A request without an answer may have taken effect at any moment until this one was invoked.
		now = now.afterAnyOf(open)
		open = ix.stillOpen(open, op)
		switch op.Outcome {
		case acked, refused:
			next := now.agreeing(op)
			switch {
			case len(next) > 0:
			case op.Outcome == refused || op.Kind == opGet: // a refusal or a read changes nothing
				report(op, now.describe())
				next = now
			default:
				report(op, now.describe())
				next = states{believed(op): {}}
			}
			now = next
			if op.Outcome == acked {
				now = now.after(op)
			}
		default:
			open = append(open, op)
		}
	}
	return now.afterAnyOf(open)
}

// stillOpen drops the ops that can no longer take effect when next is invoked.
func (ix *index) stillOpen(open []*Op, next *Op) []*Op {
	var still []*Op
	for _, op := range open {
		if !ix.surelyBefore(op, next) {
			still = append(still, op)
		}
	}
	return still
}

// agreeing returns the states that are consistent with the answer to op. An empty result is a contradiction.
func (s states) agreeing(op *Op) states {
	out := make(states)
	for one := range s {
		if one.agrees(op) {
			out[one] = struct{}{}
		}
	}
	return out
}

// agrees reports whether the answer to op is consistent with the state s before it. A put agrees with every state,
// because it replaces whatever is there.
func (s state) agrees(op *Op) bool {
	switch {
	case op.Outcome == refused && op.Code == codeNotFound:
		return !s.exists
	case op.Outcome == refused && op.Code == codeExists:
		return s.exists
	case op.Outcome == refused || op.Kind == opPut:
		return true
	case op.Kind == opGet && op.Seen != nil:
		return s.matches(*op.Seen)
	default:
		return s.exists
	}
}

// matches reports whether the server may show the state s as seen. A paused job has the status paused,
// unless it is completed.
func (s state) matches(seen JobState) bool {
	statusFits := seen.Status == "completed" || (seen.Status == "paused") == seen.Paused
	return s.exists && s.mark == seen.Mark && s.paused == seen.Paused && statusFits
}

// believed returns the state to continue with after a contradiction, so that it is not reported again at
// every later answer.
func believed(*Op) state { return state{exists: true} }

// after returns the possible states after op took effect.
func (s states) after(op *Op) states {
	out := make(states)
	for one := range s {
		out[one.after(op)] = struct{}{}
	}
	return out
}

// after returns the state that an op leaves when it takes effect.
func (s state) after(op *Op) state {
	switch {
	case op.Kind == opPut:
		return state{exists: true, mark: op.ID, paused: op.Spec.Paused}
	case op.Kind == opDelete:
		return state{}
	case op.Kind == opPause && s.exists:
		s.paused = true
	case op.Kind == opResume && s.exists:
		s.paused = false
	}
	return s
}

// afterAnyOf returns the possible states if any subset of the open ops took effect, in any order. It repeats as often
// as there are open ops, which covers every order; few are open at a time, so this stays cheap.
func (s states) afterAnyOf(open []*Op) states {
	out := maps.Clone(s)
	for range open {
		for _, op := range open {
			maps.Copy(out, out.after(op))
		}
	}
	return out
}

// describe describes the possible states for a report.
func (s states) describe() string {
	exists, absent := 0, 0
	for one := range s {
		if one.exists {
			exists++
		} else {
			absent++
		}
	}
	switch {
	case exists == 0:
		return "the job did certainly not exist"
	case absent == 0:
		return "the job did certainly exist, in another state"
	default:
		return "no possible state is consistent with it"
	}
}
