package history

import "slices"

// What a history tells of how well the server did, apart from what it promised.

// AckedPuts returns when puts were acknowledged, in order.
func (h *History) AckedPuts() []Instant {
	var out []Instant
	for i := range h.Ops {
		if op := &h.Ops[i]; op.Kind == opPut && op.Outcome == acked {
			out = append(out, op.Returned)
		}
	}
	slices.Sort(out)
	return out
}

// Ticks returns the first arrival over HTTP of each run of a recurring job that nobody ever touched, so that
// nothing but the server can have made it late.
func (h *History) Ticks() []Delivery {
	touched := make(map[string]bool)
	recurring := make(map[string]bool)
	for i := range h.Ops {
		op := &h.Ops[i]
		switch {
		case op.Kind == opGet:
		case op.Kind != opPut || op.Spec.Paused || recurring[op.Job]:
			touched[op.Job] = true
		case op.Spec.Step != 0:
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

// Repeats returns when a run arrived again that had arrived before and was not refused.
func (h *History) Repeats() []Instant {
	taken := make(map[string]bool)
	var out []Instant
	for i := range h.Deliveries {
		d := &h.Deliveries[i]
		if taken[d.RunID] {
			out = append(out, d.Arrived)
		}
		taken[d.RunID] = taken[d.RunID] || !d.Refused
	}
	return out
}

// Farewells returns when something arrived that a leader had launched whose successor had begun already.
func (h *History) Farewells() []Instant {
	reigns := h.Reigns()
	var out []Instant
	for i := range h.Deliveries {
		d := &h.Deliveries[i]
		for _, r := range reigns[reignOf(reigns, d.Fence)+1:] {
			if r.First != 0 && r.First < d.Arrived {
				out = append(out, d.Arrived)
				break
			}
		}
	}
	return out
}
