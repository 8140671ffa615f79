package history

import (
	"fmt"
	"slices"
	"strings"
)

// check is one promise of the server, with the function that looks for breaches of it in a history. It only adds to
// the finding and never changes the history, so the checks may run in any order.
type check struct {
	// name is that in the report, and in the violations.
	name    string
	promise string
	atEnd   bool // needs the final read
	cluster bool // only for the history of a cluster
	shards  bool // only for that of a cluster with several shards
	run     func(*index, *Finding)
}

// checks lists all promises, in the order of the report.
var checks = []check{
	{"registrations", "every acknowledged registration is there", true, false, false, checkRegistrations},
	{"deletes", "every acknowledged delete is gone, and fires no more", true, false, false, checkDeletes},
	{"definitions", "the latest acknowledged definition stands, and is what is delivered", true, false, false, checkDefinitions},
	{"pauses", "an acknowledged pause stays, and nothing due after it is launched", true, false, false, checkPauses},
	{"replies", "no reply contradicts what was acknowledged before", false, false, false, checkReplies},
	{"refusals", "requests are refused only for a reason", false, false, false, checkRefusals},
	{"one-shots", "every one-shot has fired, and arrived", true, false, false, checkOneShots},
	{"ticks", "every tick of a recurring job is decided, once, and no other instant is", true, false, false, checkTicks},
	{"runs", "every due run is over, listed once, and none died", true, false, false, checkRuns},
	{"receipts", "every delivery has its run, every success its delivery", true, false, false, checkReceipts},
	{"identity", "one run id for each job and scheduled time", false, false, false, checkIdentity},
	{"never early", "nothing arrives before its scheduled time", false, false, false, checkEarly},
	{"schedule", "every delivery was asked for by a registration", false, false, false, checkSchedule},
	{"no stale run", "nothing due after an acknowledged change is of an older definition", false, false, false, checkStale},
	{"attempts", "attempts and fences of a run only grow", false, false, false, checkAttempts},
	{"duplicates", "every second delivery of a run is explained", false, false, false, checkDuplicates},
	{"stream", "a run is in the stream once", false, false, false, checkStream},
	{"triggers", "the same idempotency key is the same run", false, false, false, checkTriggers},
	{"manual runs", "every acknowledged trigger is a run, and no other is", true, false, false, checkManualRuns},
	{"epochs", "epochs and log positions only grow", false, false, false, checkEpochs},
	{"process", "the server starts, stops and survives as it should", false, false, false, checkProcess},
	{"log", "the log verifies", true, false, false, checkLog},
	{"logs", "the logs of all nodes agree, and no epoch falls", true, true, false, checkLogs},
	{"reigns", "each takeover is an epoch of its own", true, true, false, checkReigns},
	{"old reigns", "a leader that was replaced launches no more", true, true, false, checkOldReigns},
	{"copies", "a run arrives once, and once more for each fault at most", true, true, false, checkCopies},
	{"shards", "a run is in the log of one shard only", true, true, true, checkShards},
	{"accepted runs", "what arrives is in the log that was accepted", true, true, false, checkAcceptedRuns},
}

// Violation is one breach of a promise. It names the job, so that the report can add the job's story.
type Violation struct {
	Check string
	Job   string  // "" if the breach concerns no single job
	At    Instant // the place of the breach in the job's history; 0 means its end
	Text  string
}

// String returns the line of the report.
func (v Violation) String() string {
	if v.Job == "" {
		return v.Check + ": " + v.Text
	}
	return v.Check + ": job " + v.Job + ": " + v.Text
}

// Finding is the result of one check.
type Finding struct {
	Name     string
	Promise  string
	Examined int // number of objects examined; with 0, the check proves nothing
	// Violations are all of them; the report prints the first ones.
	Violations []Violation
}

// fail records a breach. The first Instant among args is its place in the history.
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

// CheckSoFar runs the checks that do not need the final read. It may be called while the load runs, on a snapshot, and
// finds only what later records cannot excuse.
func CheckSoFar(h *History) []Finding {
	return runChecks(h, func(c check) bool { return !c.atEnd })
}

// CheckAll runs every check that the history allows.
func CheckAll(h *History) []Finding {
	return runChecks(h, func(c check) bool { return !c.atEnd || h.Final != nil })
}

// runChecks runs the checks that want selects.
func runChecks(h *History, want func(check) bool) []Finding {
	ix := newIndex(h)
	var findings []Finding
	for _, c := range checks {
		if want(c) && (h.Cluster || !c.cluster) && (h.Shards > 1 || !c.shards) {
			f := Finding{Name: c.name, Promise: c.promise}
			c.run(ix, &f)
			findings = append(findings, f)
		}
	}
	return findings
}

// ViolationsOf returns the breaches in findings, in the order of the checks.
func ViolationsOf(findings []Finding) []Violation {
	var all []Violation
	for _, f := range findings {
		all = append(all, f.Violations...)
	}
	return all
}

// index sorts a history by job. It is built once for all checks and then only read. Deliveries are sorted by
// arrival, ops are in the order of invocation, which for one job is also that of their client.
type index struct {
	*History
	names      []string // names of all jobs in the history, sorted
	ops        map[string][]*Op
	deliveries map[string][]*Delivery // in the order of arrival
	settledAt  []Instant              // when each op was settled (see History.settled), by its index
	reigns     [][]Reign              // of a cluster, by shard; nil until its logs are read
}

// newIndex sorts a history. The history must not change while the index is used.
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
	// A delivery of a job that no request named is a breach as well, and must not be passed over.
	for name := range ix.deliveries {
		if _, known := ix.ops[name]; !known {
			ix.names = append(ix.names, name)
		}
	}
	slices.SortFunc(ix.names, strings.Compare)
	return ix
}

// op returns the request with this number, nil if there was none.
func (ix *index) op(id int) *Op {
	if id < 1 || id > len(ix.Ops) {
		return nil
	}
	return &ix.Ops[id-1]
}

// spec returns the spec of a job's first put, which determines its kind; nil if it was never put.
func (ix *index) spec(name string) *Spec {
	for _, op := range ix.ops[name] {
		if op.Spec != nil {
			return op.Spec
		}
	}
	return nil
}

// surelyBefore reports whether a could have no further effect when b was invoked. If it is false, both orders of the
// two are possible. Both must be ops of the history that the index was made from.
func (ix *index) surelyBefore(a, b *Op) bool { return ix.settledAt[a.ID-1] <= b.Invoked }

// rebornAfter reports whether a job may have been deleted at or after an instant and created again by a put that
// followed. The server then lists no run of before. The order of the requests says nothing about it: a put and a delete
// without an answer may take effect in either order, or long after their client gave up.
func (ix *index) rebornAfter(name string, at Instant) bool {
	for _, gone := range ix.ops[name] {
		if gone.Kind != opDelete || gone.Outcome == refused || ix.settledAt[gone.ID-1] < at {
			continue
		}
		if slices.ContainsFunc(ix.ops[name], func(put *Op) bool {
			return put.Kind == opPut && put.Outcome != refused && !ix.surelyBefore(put, gone)
		}) {
			return true
		}
	}
	return false
}

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
