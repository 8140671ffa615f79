package main

import (
	"slices"
	"sync"
)

// Recorder collects a history from many goroutines.
type Recorder struct {
	mu      sync.Mutex
	ops     []*Op
	history History // all but the ops
}

// Begin records that a request is about to be sent, and gives it its number.
func (r *Recorder) Begin(op Op) *Op {
	r.mu.Lock()
	defer r.mu.Unlock()
	op.ID = len(r.ops) + 1
	op.Outcome = pending
	op.Invoked = now()
	r.ops = append(r.ops, &op)
	return &op
}

// End records how a request returned. More, if not nil, notes what the reply said.
func (r *Recorder) End(op *Op, res result, more func(*Op)) {
	at := now()
	r.mu.Lock()
	defer r.mu.Unlock()
	op.Returned, op.Outcome, op.Code = at, res.outcome, res.code
	if more != nil && res.outcome == acked {
		more(op)
	}
}

// Deliver records an arrival.
func (r *Recorder) Deliver(d Delivery) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.history.Deliveries = append(r.history.Deliveries, d)
}

// Die records the end of a process.
func (r *Recorder) Die(d Death) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.history.Deaths = append(r.history.Deaths, d)
}

// Rise records a start that succeeded.
func (r *Recorder) Rise(s Start) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.history.Starts = append(r.history.Starts, s)
}

// Read records a position that the server told.
func (r *Recorder) Read(reading Reading) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.history.Readings = append(r.history.Readings, reading)
}

// Surprise records what should not have happened to the process as a whole.
func (r *Recorder) Surprise(text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.history.Surprises = append(r.history.Surprises, text)
}

// Snapshot returns the history so far. It shares nothing with the recorder that still changes.
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
	h.Readings = slices.Clone(h.Readings)
	h.Surprises = slices.Clone(h.Surprises)
	return &h
}

// Conclude records what the server said at the end.
func (r *Recorder) Conclude(f *Final) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.history.Final = f
}
