package core

import "github.com/carillon-io/carillon/job"

// JobState is the state of a job, as [Status] counts it. Its text is the word of the API.
type JobState uint8

// The states of a job.
const (
	JobActive JobState = iota
	JobPaused
	JobCompleted
	JobFailed
	JobStates // number of states
)

// stateFlags maps states to the row flags that cause them. If a row has several, the last state counts.
var stateFlags = [JobStates]job.TimerFlags{JobPaused: job.FlagPaused, JobCompleted: job.FlagCompleted, JobFailed: job.FlagFailed}

// String returns the word of the API for a state.
func (s JobState) String() string { return stateFlags[s].JobStatus() }

// stateOf returns the one state under which a row counts: a job that is paused and fails counts as failed.
func stateOf(flags job.TimerFlags) JobState {
	for s := JobFailed; s > JobActive; s-- {
		if flags.Is(stateFlags[s]) {
			return s
		}
	}
	return JobActive
}

// The upper marks of a row hold the state under which it is counted, plus one; 0 means not counted yet.
const (
	stateShift          = 3
	stateMask  rowMarks = 7 << stateShift
)

// note counts a row under the state that its flags give. It must be called whenever the flags may have changed, which
// is where rows are written or read.
func (t *table) note(r *hotRow) {
	t.last = max(t.last, r.last)
	now := rowMarks(stateOf(r.flags)+1) << stateShift
	if r.marks&stateMask == now {
		return
	}
	t.uncount(r)
	t.byState[stateOf(r.flags)]++
	r.marks |= now
}

// uncount removes a row from the count of its state.
func (t *table) uncount(r *hotRow) {
	if last := r.marks & stateMask >> stateShift; last != 0 {
		t.byState[last-1]--
		r.marks &^= stateMask
	}
}
