package main

import (
	"errors"

	"github.com/carillon-io/carillon/client"
)

// refusedHeldMax bounds how many refusals wait for the results of the jobs before them. Beyond, they
// are told at once, out of their order.
const refusedHeldMax = 10_000

// errEnough ends the reading of a file whose jobs nobody takes any more.
var errEnough = errors.New("the import has ended")

// place is where in the input something was read.
type place struct {
	file string
	line int
}

// jobSink takes what the readers of files find: jobs, and places where there is none.
type jobSink struct {
	report *importReport
	yield  func(client.Job) bool
}

// into returns a sink that notes the places of jobs and passes the jobs on.
func (r *importReport) into(yield func(client.Job) bool) *jobSink { return &jobSink{r, yield} }

// take passes a job on. An error means that no more is wanted.
func (s *jobSink) take(at place, j client.Job) error {
	s.report.held = append(s.report.held, heldItem{place: at, name: j.Name})
	if !s.yield(j) {
		return errEnough
	}
	return nil
}

// refuse notes that what stands at a place is no job.
func (s *jobSink) refuse(at place, reason string) {
	r := s.report
	if len(r.held) == 0 || r.refusedHeld >= refusedHeldMax {
		r.refuse(at, reason)
		return
	}
	r.refusedHeld++
	r.held = append(r.held, heldItem{place: at, reason: reason})
}

// heldItem is something read that has not been told yet: a job on its way, or a refusal behind one.
type heldItem struct {
	place
	name   string
	reason string // of a refusal; "" for a job
}

// result tells what became of the oldest job on its way, and the refusals around it.
func (r *importReport) result(result client.PutResult) {
	r.tellRefusals()
	job := r.held[0]
	r.held = r.held[1:]
	if result.Error != nil {
		r.refuse(job.place, orDash(printable(job.name))+": "+refusalText(result.Error))
	} else {
		r.accepted++
	}
	r.tellRefusals()
	r.progress.tell(r.accepted)
}

func (r *importReport) tellRefusals() {
	for len(r.held) > 0 && r.held[0].reason != "" {
		r.refuse(r.held[0].place, r.held[0].reason)
		r.held = r.held[1:]
		r.refusedHeld--
	}
}
