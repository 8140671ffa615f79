package main

import (
	"errors"

	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/terminal"
)

// refusedHeldMax bounds how many refusals wait for the results of the jobs before them. Further ones are printed at
// once, out of order. Otherwise a file of another kind, in which each line is refused, would be held in memory behind
// one slow job.
const refusedHeldMax = 10_000

// errEnough ends the reading of a file when the import accepts no more jobs. It is the reason that the reader sees;
// the cause is the error of the registrar.
var errEnough = errors.New("the import has ended")

// place is the place of a job or a refusal in the input. It is how a refusal is found again in a file of a million
// lines.
type place struct {
	file string
	line int
}

// jobSink receives from the readers of files what they find: jobs and refusals. It lets one importReport serve JSON
// lines and crontabs.
type jobSink struct {
	report *importReport
	// yield returns false when the registrar takes no more jobs.
	yield func(client.Job) bool
}

// into returns a sink that records the places of jobs and refusals and passes the jobs to yield.
func (r *importReport) into(yield func(client.Job) bool) *jobSink { return &jobSink{r, yield} }

// take passes a job on. The reader stops at an error.
func (s *jobSink) take(at place, j client.Job) error {
	s.report.held = append(s.report.held, heldItem{place: at, name: j.Name})
	if !s.yield(j) {
		return errEnough
	}
	return nil
}

// refuse records that the text at a place is no valid job.
func (s *jobSink) refuse(at place, reason string) {
	r := s.report
	if len(r.held) == 0 || r.refusedHeld >= refusedHeldMax {
		r.refuse(at, reason)
		return
	}
	r.refusedHeld++
	r.held = append(r.held, heldItem{place: at, reason: reason})
}

// heldItem is what was read and not reported yet: a job without a result, or a refusal behind one.
type heldItem struct {
	place
	name   string
	reason string // of a refusal; "" for a job
}

// result records the result of the oldest job that has none, and prints the refusals around it. It relies on the order
// of the results, and panics if there are more of them than jobs.
func (r *importReport) result(result client.PutResult) {
	r.reportRefusals()
	job := r.held[0]
	r.held = r.held[1:]
	if result.Error != nil {
		r.refuse(job.place, orDash(terminal.Printable(job.name))+": "+refusalText(result.Error))
	} else {
		r.accepted++
	}
	r.reportRefusals()
	r.progress.Of(int64(r.accepted), 0)
}

// reportRefusals prints the refusals at the head of held, up to the first job without a result.
func (r *importReport) reportRefusals() {
	for len(r.held) > 0 && r.held[0].reason != "" {
		r.refuse(r.held[0].place, r.held[0].reason)
		r.held = r.held[1:]
		r.refusedHeld--
	}
}
