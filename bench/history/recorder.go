package history

import (
	"maps"
	"slices"
	"sync"
	"time"
)

// Recorder collects a history. It is safe for concurrent use. The clients keep pointers to their ops and change them
// only through End, under the lock.
type Recorder struct {
	// mu is held for an append or a copy, never for a request.
	mu sync.Mutex
	// in the order of Begin, so that the number of an op is its place
	ops     []*Op
	history History // everything except the ops
}

// Begin records that a request is about to be sent, and assigns its number. It must be called before the request is
// sent: an op that was recorded later could have taken effect before its recorded time.
func (r *Recorder) Begin(op Op) *Op {
	r.mu.Lock()
	defer r.mu.Unlock()
	op.ID = len(r.ops) + 1
	op.Outcome = pending
	op.Invoked = Now()
	r.ops = append(r.ops, &op)
	return &op
}

// End records the result of a request. more, if not nil, is called under the lock to record the content of the reply.
// It is called once for each op.
func (r *Recorder) End(op *Op, res result, more func(*Op)) {
	at := Now()
	r.mu.Lock()
	defer r.mu.Unlock()
	op.Returned, op.Outcome, op.Code = at, res.outcome, res.code
	if more != nil && res.outcome == acked {
		more(op)
	}
}

// FirstPut returns when the first put of a job that counts was acknowledged among those sent after an instant; 0 if none
// was. With a nil counts each job does. It walks backwards from the newest op, so its cost depends on the time since after, not on the length of the run.
func (r *Recorder) FirstPut(after Instant, counts func(job string) bool) Instant {
	r.mu.Lock()
	defer r.mu.Unlock()
	first := Instant(0)
	for i := len(r.ops) - 1; i >= 0 && r.ops[i].Invoked >= after; i-- {
		if op := r.ops[i]; op.Kind == opPut && op.Outcome == acked && (first == 0 || op.Returned < first) && (counts == nil || counts(op.Job)) {
			first = op.Returned
		}
	}
	return first
}

// record appends to a list of the history.
func record[T any](r *Recorder, list *[]T, one T) {
	r.mu.Lock()
	defer r.mu.Unlock()
	*list = append(*list, one)
}

// Deliver records an arrival.
func (r *Recorder) Deliver(d Delivery) { record(r, &r.history.Deliveries, d) }

// Die records the end of a process.
func (r *Recorder) Die(d Death) { record(r, &r.history.Deaths, d) }

// Rise records a start that succeeded.
func (r *Recorder) Rise(s Start) { record(r, &r.history.Starts, s) }

// Break records a fault that has ended.
func (r *Recorder) Break(f Fault) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.history.Cluster = true
	r.history.Faults = append(r.history.Faults, f)
}

// Read records a position from the server's status.
func (r *Recorder) Read(reading Reading) { record(r, &r.history.Readings, reading) }

// Glimpse records the epochs in a node's log during the run. The logs are truncated by checkpoints, so an epoch that
// is not read during the run may be missing at the end.
func (r *Recorder) Glimpse(l Log) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.history.Begun == nil {
		r.history.Begun = make(map[int]map[uint64]uint64)
	}
	if r.history.Begun[l.Shard] == nil {
		r.history.Begun[l.Shard] = make(map[uint64]uint64)
	}
	l.begins(r.history.Begun[l.Shard])
}

// Surprise records a failure of the process as a whole.
func (r *Recorder) Surprise(text string) { record(r, &r.history.Surprises, text) }

// drainWait is the time after the last due job in which all runs must have been launched and retried. It covers the
// longest pause between two attempts several times.
const drainWait = 3 * time.Second

// Drain returns how long it takes, when the load is over, until all that is due has been launched and retried.
func (r *Recorder) Drain() time.Duration {
	return max(drainWait, r.Snapshot().LastDue().Sub(Now())+drainWait)
}

// Snapshot returns a copy of the history so far, which later records do not change. Its cost grows with the history;
// the programs call it once in a cycle.
func (r *Recorder) Snapshot() *History {
	r.mu.Lock()
	defer r.mu.Unlock()
	h := r.history
	h.Ops = make([]Op, len(r.ops))
	for i, op := range r.ops {
		h.Ops[i] = *op
	}
	h.Deliveries = slices.Clone(h.Deliveries)
	h.Deaths = slices.Clone(h.Deaths)
	h.Starts = slices.Clone(h.Starts)
	h.Faults = slices.Clone(h.Faults)
	h.Readings = slices.Clone(h.Readings)
	h.Begun = maps.Clone(h.Begun)
	for shard, begun := range h.Begun {
		h.Begun[shard] = maps.Clone(begun)
	}
	h.Surprises = slices.Clone(h.Surprises)
	return &h
}

// Conclude records the final state of the server.
func (r *Recorder) Conclude(f *Final) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.history.Final = f
}
