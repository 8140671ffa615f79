package pad

import (
	"testing"

	"github.com/carillon-io/carillon/job"
)

// TestWhichOutcomesMayWait: the commit of an outcome may wait for others if the run has succeeded and keeps no turn. One that
// keeps its turn, because it continues or its job was changed, may not, and a failure never.
func TestWhichOutcomesMayWait(t *testing.T) {
	const failed = "no"
	for _, c := range []struct {
		name  string
		mode  Mode
		ends  Endings
		error string
		hangs bool
		want  bool
	}{
		{"without a limit", ModeFree, 0, "", false, true},
		{"without a limit, failed", ModeFree, 0, failed, false, false},
		{"the turn passes on", ModeSkip, EndsTaken, "", false, true},
		{"the turn passes on, failed", ModeSkip, EndsTaken | EndsFailed, failed, false, false},
		{"a worker is to report", ModeSkip, 0, "", false, false},
		{"the job was changed", ModeSkip, EndsTaken, "", true, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			var told []bool
			sender := &heldSender{}
			p := New(Options{Sender: sender, Report: func(_ job.Outcome, mayWait bool) { told = append(told, mayWait) }})
			run := job.RunID{Job: 1, At: 1}
			p.Add([]Launch{{Run: run, Due: 1, Attempt: 1, Mode: c.mode, Limit: 1, Ends: c.ends}}, 1)
			feedAndLaunch(p, 1)
			if c.hangs {
				p.HangOn(1)
			}
			sender.done[0](job.Outcome{Run: run, Attempt: 1, Error: c.error})
			if len(told) != 1 || told[0] != c.want {
				t.Errorf("told %v, want %t", told, c.want)
			}
		})
	}
}
