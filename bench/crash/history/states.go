package history

import "maps"

// state is what the server may hold of one job.
type state struct {
	exists bool
	mark   int // of the definition: the number of the put that it is from
	paused bool
}

// states are all that the server may hold of one job, given what its client saw. With every request
// answered there is one. A request without an answer adds those in which it took effect.
type states map[state]struct{}

// contradiction is called for a reply that no possible state explains.
type contradiction func(op *Op, text string)

// trace follows the requests of one job, and returns the states that are possible after the last.
func (ix *index) trace(ops []*Op, report contradiction) states {
	now := states{{}: {}}
	var open []*Op // without an answer, and not settled
	for _, op := range ops {
		now = now.afterAnyOf(open)
		open = ix.stillOpen(open, op)
		switch op.Outcome {
		case acked, refused:
			next := now.agreeing(op)
			if len(next) == 0 {
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

// stillOpen drops the ops that can take no effect once another is invoked.
func (ix *index) stillOpen(open []*Op, next *Op) []*Op {
	var still []*Op
	for _, op := range open {
		if !ix.surelyBefore(op, next) {
			still = append(still, op)
		}
	}
	return still
}

// agreeing returns the states in which the server could have answered as it did.
func (s states) agreeing(op *Op) states {
	out := make(states)
	for one := range s {
		if one.agrees(op) {
			out[one] = struct{}{}
		}
	}
	return out
}

// agrees is a flat switch over what an answer says of the state before it.
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

// matches tells whether the server may show this state so. A job that is paused says so in its status
// too, unless it is completed and has nothing left to pause.
func (s state) matches(seen JobState) bool {
	statusFits := seen.Status == "completed" || (seen.Status == "paused") == seen.Paused
	return s.exists && s.mark == seen.Mark && s.paused == seen.Paused && statusFits
}

// believed returns a state that agrees with an answer which nothing agreed with, so that one
// contradiction is not reported again at every later answer.
func believed(op *Op) state {
	switch {
	case op.Outcome == refused && op.Code == codeNotFound:
		return state{}
	case op.Seen != nil:
		return state{exists: true, mark: op.Seen.Mark, paused: op.Seen.Paused}
	default:
		return state{exists: true}
	}
}

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

// afterAnyOf returns the states after any of some ops took effect, in any order, or none did.
func (s states) afterAnyOf(open []*Op) states {
	out := maps.Clone(s)
	for range open {
		for _, op := range open {
			maps.Copy(out, out.after(op))
		}
	}
	return out
}

// describe names what was possible, for a report.
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
		return "the job was surely gone"
	case absent == 0:
		return "the job was surely there, in another state"
	default:
		return "no possible state agrees"
	}
}
