package pad

import (
	"slices"

	"github.com/carillon-io/carillon/job"
)

// templates are deliveries of jobs that have several launches on the pad: a job that ticks every second has ten within the lead
// of a cluster. The row of the job is read for the first of them, and the others are copies. Pad.mu guards it.
//
// Invariant: a job with a template has a launch on the pad, and has not changed since the row was read. The second follows from
// the first: a change of a job takes its launches from the pad before the step, and takes the template with them.
type templates struct {
	byJob map[job.ID]*job.Delivery
	bytes int64
	most  int64 // as of deliveryCost; beyond it all are dropped: what is needed is read again
}

// keep makes a delivery the template of its job. The caller must not change it afterwards.
func (t *templates) keep(d *job.Delivery) {
	cost := deliveryCost(d)
	if t.byJob[d.Run.Job] != nil || cost > t.most/16 {
		return
	}
	if t.bytes+cost > t.most || t.byJob == nil {
		t.byJob, t.bytes = make(map[job.ID]*job.Delivery), 0
	}
	t.byJob[d.Run.Job] = d
	t.bytes += cost
}

// forget drops the template of a job.
func (t *templates) forget(id job.ID) {
	if d := t.byJob[id]; d != nil {
		t.bytes -= deliveryCost(d)
		delete(t.byJob, id)
	}
}

// delivery returns the delivery of a launch; nil if its row must be read. A payload of its own is always read.
func (t *templates) delivery(l Launch) *job.Delivery {
	of := t.byJob[l.Run.Job]
	if of == nil || l.HasPayload {
		return nil
	}
	d := *of
	d.Run, d.Attempt, d.Fence = l.Run, l.Attempt, l.Fence
	d.Headers, d.SecretHeaders = slices.Clip(d.Headers), slices.Clip(d.SecretHeaders)
	return &d
}

// deliveryCost approximates the memory of a delivery.
func deliveryCost(d *job.Delivery) int64 {
	cost := deliveryBytes + int64(len(d.Payload))
	for _, list := range [][]job.Pair{d.Headers, d.SecretHeaders} {
		for _, h := range list {
			cost += int64(len(h.Key) + len(h.Value))
		}
	}
	return cost
}
