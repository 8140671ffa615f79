package history

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
	cluster bool // makes sense for a cluster only
	run     func(*index, *Finding)
}

// checks are all promises, in the order of the report.
var checks = []check{
	{"registrations", "every acknowledged registration is there", true, false, checkRegistrations},
	{"deletes", "every acknowledged delete is gone, and fires no more", true, false, checkDeletes},
	{"definitions", "the latest acknowledged definition stands, and is what is delivered", true, false, checkDefinitions},
	{"pauses", "an acknowledged pause stays, and nothing due after it is launched", true, false, checkPauses},
	{"replies", "no reply contradicts what was acknowledged before", false, false, checkReplies},
	{"refusals", "requests are refused only for a reason", false, false, checkRefusals},
	{"one-shots", "every one-shot has fired, and arrived", true, false, checkOneShots},
	{"ticks", "every tick of a recurring job is decided, once, and no other instant is", true, false, checkTicks},
	{"runs", "every due run is over, listed once, and none died", true, false, checkRuns},
	{"receipts", "every delivery has its run, every success its delivery", true, false, checkReceipts},
	{"identity", "one run id for each job and scheduled time", false, false, checkIdentity},
	{"never early", "nothing arrives before its scheduled time", false, false, checkEarly},
	{"schedule", "no delivery that no registration asked for", false, false, checkSchedule},
	{"no stale run", "nothing due after an acknowledged change is of an older definition", false, false, checkStale},
	{"attempts", "attempts and fences of a run only grow", false, false, checkAttempts},
	{"duplicates", "every second delivery of a run is explained", false, false, checkDuplicates},
	{"stream", "a run is in the stream once", false, false, checkStream},
	{"triggers", "the same idempotency key is the same run", false, false, checkTriggers},
	{"manual runs", "every acknowledged trigger is a run, and no other is", true, false, checkManualRuns},
	{"epochs", "epochs and log positions only grow", false, false, checkEpochs},
	{"process", "the server starts, stops and survives as it should", false, false, checkProcess},
	{"log", "the log verifies", true, false, checkLog},
	{"logs", "the logs of all nodes agree, and no epoch falls", true, true, checkLogs},
	{"reigns", "each takeover is an epoch of its own", true, true, checkReigns},
	{"old reigns", "a leader that was replaced launches no more", true, true, checkOldReigns},
	{"copies", "a run arrives once, and once more for each fault at most", true, true, checkCopies},
	{"accepted runs", "what arrives is in the log that was accepted", true, true, checkAcceptedRuns},
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

// Finding is what one check found.
type Finding struct {
	Name       string
	Promise    string
	Examined   int // things looked at: with none, the check says nothing
	Violations []Violation
}

// fail notes a breach. The first instant among args is where in the history to look.
func (f *Finding) fail(job, format string, args ...any) {
	v := Violation{Check: f.Name, Job: job, Text: fmt.Sprintf(format, args...)}
	for _, a := range args {
		if at, ok := a.(Instant); ok {
			v.At = at
			break
		}
	}
	f.Violations = append(f.Violations, v)
}

// CheckSoFar runs the checks that make sense in the middle of a run.
func CheckSoFar(h *History) []Finding {
	return runChecks(h, func(c check) bool { return !c.atEnd })
}

// CheckAll runs every check that the history allows.
func CheckAll(h *History) []Finding {
	return runChecks(h, func(c check) bool { return !c.atEnd || h.Final != nil })
}

func runChecks(h *History, want func(check) bool) []Finding {
	ix := newIndex(h)
	var findings []Finding
	for _, c := range checks {
		if want(c) && (h.Cluster || !c.cluster) {
			f := Finding{Name: c.name, Promise: c.promise}
			c.run(ix, &f)
			findings = append(findings, f)
		}
	}
	return findings
}

// ViolationsOf returns the breaches that some checks found, in the order of the checks.
func ViolationsOf(findings []Finding) []Violation {
	var all []Violation
	for _, f := range findings {
		all = append(all, f.Violations...)
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
	reigns     []Reign                // of a cluster, once its logs were read
}

func newIndex(h *History) *index {
	ix := &index{History: h, ops: make(map[string][]*Op), deliveries: make(map[string][]*Delivery)}
	ix.reigns = h.Reigns()
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
