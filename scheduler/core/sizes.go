package core

import "github.com/carillon-io/carillon/job"

// Sizes of what units write, rounded up: see [Core.unit]. One that is too large only makes commits end earlier. One
// that is too small moves a unit after the fact, and gives its rows the number of the commit before: see commits.go.
const (
	metaBytes      = 48
	timerBytes     = 96 + traitBytes // the timer of a job, and the change of its state in the index
	noticeKeyBytes = 24
	pruneBytes     = 256
	// attemptBytes is the size of an attempt in the row of a run, without the text of its error.
	attemptBytes = 40
	// endingRowsBytes covers what the end of a run, or its next attempt, writes, without texts and earlier attempts:
	// its row, its notice, the deleted rows, and the timer and the streak of its job.
	endingRowsBytes = 640
	// lateReportBytes covers the text of the error that no report came.
	lateReportBytes = 64
)

// endingBytes returns the size of the end of a run's attempt, without the texts of the outcome itself.
func (c *Core) endingBytes(id job.RunID) int {
	return endingRowsBytes + len(c.deleting.tenant) + len(c.deleting.name) + textBytes(c.retries[id])
}

// textBytes returns the size of the texts and attempts of a run in its row and in a notice; 0 for nil.
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

// decisionBytes returns the size of a decision of a job's tick: a run, or a few skipped ranges, the debt, and a note.
func (c *Core) decisionBytes(r *hotRow) int {
	return timerBytes + metaBytes + 4*RunBytes + c.debtBytes(r.id)
}

// debtBytes returns the size of a job's debt when it is written or skipped.
func (c *Core) debtBytes(id job.ID) int {
	d := c.debts.byJob[id]
	if d == nil {
		return metaBytes
	}
	return metaBytes + RunBytes*len(d.ticks)
}
