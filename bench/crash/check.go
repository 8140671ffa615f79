package main

import (
	"fmt"
	"slices"
	"strings"
)

// check is one promise, and how to look for breaches of it in a history.
type check struct {
	name    string
	promise string
	atEnd   bool // needs the final read
	run     func(*index, *finding)
}

// checks are all promises, in the order of the report.
var checks = []check{
	{"registrations", "every acknowledged registration is there", true, checkRegistrations},
	{"deletes", "every acknowledged delete is gone, and fires no more", true, checkDeletes},
	{"definitions", "the latest acknowledged definition stands, and is what is delivered", true, checkDefinitions},
	{"pauses", "an acknowledged pause stays, and nothing due after it is launched", true, checkPauses},
	{"replies", "no reply contradicts what was acknowledged before", false, checkReplies},
	{"refusals", "requests are refused only for a reason", false, checkRefusals},
	{"one-shots", "every one-shot has fired, and arrived", true, checkOneShots},
	{"ticks", "every tick of a recurring job is decided, once, and no other instant is", true, checkTicks},
	{"runs", "every due run is over, listed once, and none died", true, checkRuns},
	{"receipts", "every delivery has its run, every success its delivery", true, checkReceipts},
	{"identity", "one run id for each job and scheduled time", false, checkIdentity},
	{"never early", "nothing arrives before its scheduled time", false, checkEarly},
	{"schedule", "no delivery that no registration asked for", false, checkSchedule},
	{"no stale run", "nothing due after an acknowledged change is of an older definition", false, checkStale},
	{"attempts", "attempts and fences of a run only grow", false, checkAttempts},
	{"duplicates", "every second delivery of a run is explained", false, checkDuplicates},
	{"stream", "a run is in the stream once", false, checkStream},
	{"triggers", "the same idempotency key is the same run", false, checkTriggers},
	{"manual runs", "every acknowledged trigger is a run, and no other is", true, checkManualRuns},
	{"epochs", "epochs and log positions only grow", false, checkEpochs},
	{"process", "the server starts, stops and survives as it should", false, checkProcess},
	{"log", "the log verifies", true, checkLog},
}

// Violation is one breach of a promise.
type Violation struct {
	Check string
	Job   string  // "" if it is of no job
	At    Instant // where in the job's history to look; 0 is its end
	Text  string
}

func (v Violation) String() string {
	if v.Job == "" {
		return v.Check + ": " + v.Text
	}
	return v.Check + ": job " + v.Job + ": " + v.Text
}

// finding is what one check found.
type finding struct {
	check      check
	examined   int // things looked at: with none, the check says nothing
	violations []Violation
}

// fail notes a breach. The first instant among args is where in the history to look.
func (f *finding) fail(job, format string, args ...any) {
	v := Violation{Check: f.check.name, Job: job, Text: fmt.Sprintf(format, args...)}
	for _, a := range args {
		if at, ok := a.(Instant); ok {
			v.At = at
			break
		}
	}
	f.violations = append(f.violations, v)
}

// checkSoFar runs the checks that make sense in the middle of a run.
func checkSoFar(h *History) []finding {
	return runChecks(h, func(c check) bool { return !c.atEnd })
}

// checkAll runs every check that the history allows.
func checkAll(h *History) []finding {
	return runChecks(h, func(c check) bool { return !c.atEnd || h.Final != nil })
}

func runChecks(h *History, want func(check) bool) []finding {
	ix := newIndex(h)
	var findings []finding
	for _, c := range checks {
		if want(c) {
			f := finding{check: c}
			c.run(ix, &f)
			findings = append(findings, f)
		}
	}
	return findings
}

func violationsOf(findings []finding) []Violation {
	var all []Violation
	for _, f := range findings {
		all = append(all, f.violations...)
	}
	return all
}

// index sorts a history by job.
type index struct {
	*History
	names      []string // of jobs that anything is known of, sorted
	ops        map[string][]*Op
	deliveries map[string][]*Delivery // by arrival
	settledAt  []Instant              // of each op, by its place
}

func newIndex(h *History) *index {
	ix := &index{History: h, ops: make(map[string][]*Op), deliveries: make(map[string][]*Delivery)}
	ix.settledAt = make([]Instant, len(h.Ops))
	for i := range h.Ops {
		op := &h.Ops[i]
		ix.ops[op.Job] = append(ix.ops[op.Job], op)
		ix.settledAt[i] = h.settled(op)
	}
	for i := range h.Deliveries {
		d := &h.Deliveries[i]
		ix.deliveries[d.Job] = append(ix.deliveries[d.Job], d)
	}
	for _, ds := range ix.deliveries {
		slices.SortStableFunc(ds, func(a, b *Delivery) int { return int(a.Arrived - b.Arrived) })
	}
	for name := range ix.ops {
		ix.names = append(ix.names, name)
	}
	for name := range ix.deliveries {
		if _, known := ix.ops[name]; !known {
			ix.names = append(ix.names, name)
		}
	}
	slices.SortFunc(ix.names, strings.Compare)
	return ix
}

// op returns the request of a number, nil if there was none.
func (ix *index) op(id int) *Op {
	if id < 1 || id > len(ix.Ops) {
		return nil
	}
	return &ix.Ops[id-1]
}

// spec returns what kind of job a name is: the spec of its first put. Nil if it was never put.
func (ix *index) spec(name string) *Spec {
	for _, op := range ix.ops[name] {
		if op.Spec != nil {
			return op.Spec
		}
	}
	return nil
}

// surelyBefore tells whether one op had taken all its effect before another was invoked.
func (ix *index) surelyBefore(a, b *Op) bool { return ix.settledAt[a.ID-1] <= b.Invoked }

// byRun groups deliveries of a job by run id, in the order of their first arrival.
func byRun(ds []*Delivery) [][]*Delivery {
	place := make(map[string]int)
	var runs [][]*Delivery
	for _, d := range ds {
		i, ok := place[d.RunID]
		if !ok {
			i = len(runs)
			place[d.RunID] = i
			runs = append(runs, nil)
		}
		runs[i] = append(runs[i], d)
	}
	return runs
}
