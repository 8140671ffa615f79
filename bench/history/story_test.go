package history

import (
	"fmt"
	"slices"
	"time"
)

// story builds a history by hand. Its times are milliseconds since the story began.
type story struct {
	h     History
	ops   []*Op
	marks map[string]int // latest put of each job
	fence uint64
}

const beginning = Instant(1_795_000_000_000_000)

func ms(n int) Instant { return beginning + Instant(n)*1000 }

// History returns what the story amounts to.
func (s *story) History() *History {
	h := s.h
	h.Ops = nil
	for _, op := range s.ops {
		h.Ops = append(h.Ops, *op)
	}
	return &h
}

// op tells of a request. Returned 0 is no answer.
func (s *story) op(kind OpKind, job string, invoked, returned int, outcome Outcome) *Op {
	op := &Op{ID: len(s.ops) + 1, Kind: kind, Job: job, Invoked: ms(invoked), Outcome: outcome}
	if returned != 0 {
		op.Returned = ms(returned)
	}
	s.ops = append(s.ops, op)
	return op
}

// put tells of an acknowledged put that took a millisecond.
func (s *story) put(job string, at, version int, spec Spec) int {
	op := s.op(opPut, job, at, at+1, acked)
	op.Spec, op.Version = &spec, version
	s.marks[job] = op.ID
	return op.ID
}

// deliver tells of an arrival, attempt 1 with a fence above all before.
func (s *story) deliver(job, target string, mark, due, arrived int) *Delivery {
	s.fence++
	s.h.Deliveries = append(s.h.Deliveries, Delivery{
		Target: target, Job: job, RunID: runID(job, due), Mark: mark,
		Scheduled: ms(due), Arrived: ms(arrived), Attempt: 1, Fence: s.fence,
	})
	return &s.h.Deliveries[len(s.h.Deliveries)-1]
}

func runID(job string, due int) string { return fmt.Sprintf("%s@%d", job, due) }

// final tells that a job is there in the end.
func (s *story) final(job string, mark int, status string, version int) {
	s.h.Final.Jobs[job] = JobState{Mark: mark, Paused: status == "paused", Status: status, Version: version}
}

// run tells of a run that is listed in the end.
func (s *story) run(job string, due int, status string) {
	s.h.Final.Runs[job] = append(s.h.Final.Runs[job], Run{ID: runID(job, due), Scheduled: ms(due), Status: status, Attempt: 1})
}

// reborn tells of a put and then a delete of a job, both without an answer, of which the delete took effect first. It
// returns the mark of the put. The job has no runs yet.
func (s *story) reborn(job string, spec Spec) int {
	put := s.op(opPut, job, 4980, 0, unknown)
	put.Spec = &spec
	s.op(opDelete, job, 4990, 0, unknown)
	s.forgetJob(job)
	s.final(job, put.ID, map[bool]string{true: "completed", false: "active"}[spec.Kind == oneShot], 1)
	return put.ID
}

func (s *story) find(job string, due int) *Run {
	runs := s.h.Final.Runs[job]
	return &runs[slices.IndexFunc(runs, func(r Run) bool { return r.Scheduled == ms(due) })]
}

func (s *story) forgetRun(job string, due int) {
	s.h.Final.Runs[job] = slices.DeleteFunc(s.h.Final.Runs[job], func(r Run) bool { return r.Scheduled == ms(due) })
}

func (s *story) forgetJob(job string) {
	delete(s.h.Final.Jobs, job)
	delete(s.h.Final.Runs, job)
}

func (s *story) forgetDeliveries(job string) {
	s.h.Deliveries = slices.DeleteFunc(s.h.Deliveries, func(d Delivery) bool { return d.Job == job })
}

func (s *story) delivery(job string, due int) *Delivery {
	return &s.h.Deliveries[slices.IndexFunc(s.h.Deliveries, func(d Delivery) bool { return d.Job == job && d.Scheduled == ms(due) })]
}

// cleanStory tells of ten seconds with one SIGKILL, at 5.0 s, in which every promise is kept.
func cleanStory() *story {
	s := &story{marks: make(map[string]int)}
	s.h.Final = &Final{At: ms(11500), Horizon: ms(10000), Jobs: make(map[string]JobState), Runs: make(map[string][]Run)}
	s.h.Starts = []Start{{Began: ms(-50), Ready: ms(0), Epoch: 1}, {Began: ms(5050), Ready: ms(5100), Epoch: 2}}
	s.h.Deaths = []Death{{Sent: ms(5000), Gone: ms(5010)}}
	s.h.Readings = []Reading{{At: ms(4999), LSN: 40}, {At: ms(5101), LSN: 41}}
	s.tellOneShots()
	s.tellRecurring()
	s.tellManual()
	return s
}

func (s *story) tellOneShots() {
	shot := func(target string, due int) Spec { return Spec{Kind: oneShot, Due: ms(due), Target: target} }

	mark := s.put("shot", 100, 1, shot("nats", 1000))
	s.deliver("shot", "nats", mark, 1000, 1001)
	s.run("shot", 1000, "succeeded")
	s.final("shot", mark, "completed", 1)

	s.put("moved", 200, 1, shot("nats", 2000))
	mark = s.put("moved", 300, 2, shot("nats", 3000))
	s.deliver("moved", "nats", mark, 3000, 3001)
	s.run("moved", 3000, "succeeded")
	s.final("moved", mark, "completed", 2)

	mark = s.put("kept", 300, 1, shot("jetstream", 3000))
	s.deliver("kept", "jetstream", mark, 3000, 3001)
	s.run("kept", 3000, "succeeded")
	s.final("kept", mark, "completed", 1)

	mark = s.put("again", 400, 1, shot("request", 1500))
	s.deliver("again", "request", mark, 1500, 1501).Refused = true
	second := s.deliver("again", "request", mark, 1500, 1560)
	second.Attempt = 2
	s.run("again", 1500, "succeeded")
	s.final("again", mark, "completed", 1)

	s.put("gone", 400, 1, shot("nats", 8000))
	s.op(opDelete, "gone", 500, 501, acked)
	s.op(opGet, "gone", 600, 601, refused).Code = codeNotFound
	s.op(opPut, "nobody", 5020, 5021, refused).Code = codeNobody
	s.ops[len(s.ops)-1].Spec = &Spec{Kind: oneShot, Due: ms(6000), Target: "nats"}
}

func (s *story) tellRecurring() {
	mark := s.put("tick", 90, 1, Spec{Kind: every, Step: time.Second, Target: "nats"})
	for due := 600; due <= 10600; due += 1000 {
		if due >= 5600 && due <= 7600 {
			continue
		}
		s.run("tick", due, "succeeded")
		s.deliver("tick", "nats", mark, due, due+1)
	}
	s.h.Final.Runs["tick"] = append(s.h.Final.Runs["tick"], Run{
		ID: runID("tick", 5600), Scheduled: ms(5600), Until: ms(7600), Status: "skipped", Reason: "missed",
	})
	s.final("tick", mark, "active", 1)

	mark = s.put("rest", 100, 1, Spec{Kind: every, Step: time.Second, Target: "request"})
	for due := 1100; due <= 3100; due += 1000 {
		s.run("rest", due, "succeeded")
		s.deliver("rest", "request", mark, due, due+2)
	}
	s.op(opPause, "rest", 4200, 4201, acked).Version = 2
	get := s.op(opGet, "rest", 5200, 5201, acked)
	get.Seen = &JobState{Mark: mark, Paused: true, Status: "paused", Version: 2}
	s.final("rest", mark, "paused", 2)
	s.run("rest", 4100, "succeeded")
	s.deliver("rest", "request", mark, 4100, 4102)
}

func (s *story) tellManual() {
	mark := s.put("hand", 100, 1, Spec{Kind: manual, Due: beginning.Add(farAhead), Target: "http"})
	s.final("hand", mark, "active", 1)
	for i, at := range []int{700, 800} {
		op := s.op(opTrigger, "hand", at, at+1, acked)
		op.Key, op.RunID = "k", runID("hand", 700)
		if i == 0 {
			s.deliver("hand", "http", op.ID, 700, 703)
		}
	}
	s.h.Final.Runs["hand"] = []Run{{ID: runID("hand", 700), Scheduled: ms(700), Status: "succeeded", Attempt: 1, Manual: true}}
}
