package history

import (
	"slices"
	"time"
)

// The figures of this file say how well the server performed. They are not promises.

// AckedPuts returns, by shard, the instants at which puts were acknowledged, in order. The gaps between them show for how
// long the shard acknowledged nothing.
func (h *History) AckedPuts() [][]Instant {
	out := make([][]Instant, h.shards())
	for i := range h.Ops {
		if op := &h.Ops[i]; op.Kind == opPut && op.Outcome == acked {
			shard := h.shardOf(op.Job)
			out[shard] = append(out[shard], op.Returned)
		}
	}
	for _, at := range out {
		slices.Sort(at)
	}
	return out
}

// Ticks returns the first arrival over HTTP of each run of the recurring jobs that no client changes. Only the server
// can have made such a run late. The lateness of other runs can have reasons of the load, such as a pause by a client
// or a sink that refuses.
func (h *History) Ticks() []Delivery {
	touched := make(map[string]bool)
	recurring := make(map[string]bool)
	for i := range h.Ops {
		op := &h.Ops[i]
		switch {
		case op.Kind == opGet:
		// A second put, a pause or a delete makes the ticks of a job the business of its client.
		case op.Kind != opPut || op.Spec.Paused || recurring[op.Job]:
			touched[op.Job] = true
		case op.Spec.Step != 0 && !op.Spec.Sure:
			recurring[op.Job] = true
		}
	}
	first := make(map[string]bool)
	var out []Delivery
	for _, d := range h.Deliveries {
		if d.Target == "http" && recurring[d.Job] && !touched[d.Job] && !first[d.RunID] {
			first[d.RunID] = true
			out = append(out, d)
		}
	}
	return out
}

// Repeats returns the instants at which a run arrived again although its earlier delivery was not refused, and its answer not
// lost. A refused delivery is retried by the job's policy, and so is one without an answer: both say nothing about who leads.
func (h *History) Repeats() []Instant {
	taken := make(map[string]*Delivery) // the last one that was not refused
	var out []Instant
	for i := range h.Deliveries {
		d := &h.Deliveries[i]
		if a := taken[d.RunID]; a != nil && !isUnanswered(a, d) {
			out = append(out, d.Arrived)
		}
		if !d.Refused {
			taken[d.RunID] = d
		}
	}
	return out
}

// isUnanswered reports whether the delivery b of a run is another attempt, because a got no answer within its time: a reply over
// NATS is lost with the server through which the target sends it.
func isUnanswered(a, b *Delivery) bool {
	return a.Target == "request" && b.Attempt > a.Attempt && b.Arrived.Sub(a.Arrived) >= attemptTimeout
}

// Farewell is the arrival of a launch of an old leader after its successor in the shard had begun to launch.
type Farewell struct {
	// Arrived is that of the late launch.
	Arrived Instant
	After   time.Duration // time since the first arrival of the successor's launches
}

// Farewells returns all farewells, in the order of arrival. It leaves out deliveries that the network
// delayed.
func (h *History) Farewells() []Farewell {
	all := h.Reigns()
	if all == nil {
		return nil
	}
	var out []Farewell
	for i := range h.Deliveries {
		d := &h.Deliveries[i]
		if h.wasHeld(d) {
			continue
		}
		reigns := all[h.shardOf(d.Job)]
		for _, r := range reigns[reignOf(reigns, d.Fence)+1:] {
			if r.First != 0 && r.First < d.Arrived {
				out = append(out, Farewell{d.Arrived, d.Arrived.Sub(r.First)})
				break
			}
		}
	}
	return out
}

// Missing returns, by job, the number of ticks between two instants that never arrived, of the jobs of PutPolicies and
// PutSkipping. It expects one tick for each whole step between the instants, so at the edges it may be off by one.
func (h *History) Missing(from, until Instant) map[string]int {
	missing := make(map[string]int)
	for i := range h.Ops {
		if op := &h.Ops[i]; op.Kind == opPut && op.Spec.Sure && op.Outcome == acked && op.Returned < from {
			missing[op.Job] = int(until.Sub(from) / op.Spec.Step)
		}
	}
	arrived := make(map[string]bool)
	for i := range h.Deliveries {
		d := &h.Deliveries[i]
		if left, ok := missing[d.Job]; ok && from <= d.Scheduled && d.Scheduled <= until && !arrived[d.RunID] {
			arrived[d.RunID] = true
			missing[d.Job] = max(left-1, 0)
		}
	}
	return missing
}
