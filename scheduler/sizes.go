package scheduler

import "github.com/carillon-io/carillon/job"

// Sizes of what units write, rounded up: see [Core.unit].
const (
	metaBytes      = 48
	timerBytes     = 96 // the timer of a job
	noticeKeyBytes = 24
	pruneBytes     = 256
	// attemptBytes is what an attempt takes in the row of a run, without the text of its error.
	attemptBytes = 40
	// endingRowsBytes covers what the end of a run writes, or its next attempt, without texts and earlier
	// attempts: its row, the notice of it, the rows that go, the timer and the streak of its job.
	endingRowsBytes = 640
	// lateReportBytes covers the text of an error that says that no report came.
	lateReportBytes = 64
)

// endingBytes returns what the end of a run's attempt takes, without the texts of the end itself.
func (c *Core) endingBytes(id job.RunID) int {
	return endingRowsBytes + len(c.doomed.tenant) + len(c.doomed.name) + textBytes(c.retries[id])
}

// textBytes returns what the texts and the attempts of a run take in its row and in a notice; nil has none.
func textBytes(run *job.Run) int {
	if run == nil {
		return 0
	}
	n := 2*len(run.Error) + len(run.Result) + attemptBytes*len(run.Attempts)
	for i := range run.Attempts {
		n += len(run.Attempts[i].Error)
	}
	return n
}

// decisionBytes returns what the decision of a job's tick takes: a run, or a few skipped ranges, what is owed, and a note.
func (c *Core) decisionBytes(r *hotRow) int {
	return timerBytes + metaBytes + 4*runBytes + c.debtBytes(r.id)
}

// debtBytes returns what it takes to write down what a job owes, or to skip it.
func (c *Core) debtBytes(id job.ID) int {
	d := c.debts.byJob[id]
	if d == nil {
		return metaBytes
	}
	return metaBytes + runBytes*len(d.ticks)
}
