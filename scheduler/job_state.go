package scheduler

import "github.com/carillon-io/carillon/job"

// JobState is what a job is in, as [Status] counts them; its text is the API's word.
type JobState uint8

// The states of a job.
const (
	JobActive JobState = iota
	JobPaused
	JobCompleted
	JobFailed
	JobStates // how many there are
)

// stateFlags are the bits of a row each of which makes a state. Of several the last counts.
var stateFlags = [JobStates]job.TimerFlags{JobPaused: job.FlagPaused, JobCompleted: job.FlagCompleted, JobFailed: job.FlagFailed}

// String returns the word of the API for a state.
func (s JobState) String() string { return stateFlags[s].JobStatus() }

func stateOf(flags job.TimerFlags) JobState {
	for s := JobFailed; s > JobActive; s-- {
		if flags.Is(stateFlags[s]) {
			return s
		}
	}
	return JobActive
}

// The marks of a row have the state that it is counted under, one higher: 0 is not counted yet.
const (
	stateShift          = 3
	stateMask  rowMarks = 7 << stateShift
)

// note counts a row under the state that its flags say. It is called whenever they may have changed,
// which is where they are written or read.
func (t *table) note(r *hotRow) {
	now := rowMarks(stateOf(r.flags)+1) << stateShift
	if r.marks&stateMask == now {
		return
	}
	t.uncount(r)
	t.byState[stateOf(r.flags)]++
	r.marks |= now
}

// uncount forgets under which state a row was counted.
func (t *table) uncount(r *hotRow) {
	if last := r.marks & stateMask >> stateShift; last != 0 {
		t.byState[last-1]--
		r.marks &^= stateMask
	}
}
