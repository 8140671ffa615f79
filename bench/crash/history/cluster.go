package history

import "time"

// Fault is something in a cluster that was broken on purpose.
type Fault struct {
	Kind     string
	Takeover bool    // another node must have taken over
	From     Instant // when it began
	Served   Instant // when the cluster did its work again
	Healed   Instant // when what was broken was whole again, and each node in step
	Released Instant // when a network let go of what it had held back; 0 if it held nothing
}

// Log is what a node has on its disk in the end.
type Log struct {
	Node    string
	Commits []Commit        // in order, without a hole
	Runs    map[string]bool // ids of the runs that a commit speaks of
}

// Commit names a commit as the log does.
type Commit struct {
	LSN   uint64
	Epoch uint64
	Hash  string
}

// forgetWait is how long a request may be under way in a cluster that works: the server gives up after
// 10 s.
const forgetWait = 12 * time.Second

// forgotten returns when a request without an answer can take no more effect. While something is broken
// it may wait anywhere, so the time counts from when all was whole again.
func (h *History) forgotten(op *Op) Instant {
	at := op.Invoked.Add(forgetWait)
	for _, f := range h.Faults {
		if f.From <= at && f.Healed >= op.Invoked {
			at = max(at, f.Healed.Add(forgetWait))
		}
	}
	return at
}

// floodWait is how long it takes until all that a network held back has arrived.
const floodWait = time.Second

// wasHeld tells whether a delivery that came at an instant may have been sent long before.
func (h *History) wasHeld(arrived Instant) bool {
	for _, f := range h.Faults {
		if f.Released != 0 && f.Released <= arrived && arrived <= f.Released.Add(floodWait) {
			return true
		}
	}
	return false
}

// disturbed tells whether a fault may have kept the outcome of a delivery that came at an instant from
// being recorded, and began before a later instant; or the delivery itself was held back by one.
func (h *History) disturbed(arrived, before Instant) bool {
	if h.wasHeld(arrived) {
		return true
	}
	for _, f := range h.Faults {
		if f.From <= arrived.Add(inFlightWindow) && f.From <= before && arrived <= f.Served.Add(wireWindow) {
			return true
		}
	}
	return false
}

// Reign is the time of one leader, as the logs tell it.
type Reign struct {
	Epoch uint64
	Begin uint64  // LSN of its first commit
	First Instant // first arrival of what it launched; 0 if nothing arrived
}

// Reigns returns the reigns that began in what the logs have, oldest first. What arrived before the first
// of them is nobody's.
func (h *History) Reigns() []Reign {
	if h.Final == nil {
		return nil
	}
	reigns := reignsOf(h.Final.Logs)
	for i := range h.Deliveries {
		d := &h.Deliveries[i]
		if n := reignOf(reigns, d.Fence); n >= 0 && (reigns[n].First == 0 || d.Arrived < reigns[n].First) {
			reigns[n].First = d.Arrived
		}
	}
	return reigns
}

// reignsOf merges the first commits of all epochs.
func reignsOf(logs []Log) []Reign {
	begins := make(map[uint64]uint64)
	most := uint64(0)
	for _, l := range logs {
		for _, c := range l.Commits {
			if begin, ok := begins[c.Epoch]; !ok || c.LSN < begin {
				begins[c.Epoch] = c.LSN
			}
			most = max(most, c.Epoch)
		}
	}
	var reigns []Reign
	for epoch := uint64(0); epoch <= most; epoch++ {
		if begin, ok := begins[epoch]; ok {
			reigns = append(reigns, Reign{Epoch: epoch, Begin: begin})
		}
	}
	return reigns
}

// reignOf returns the place of the reign that a fence is of, -1 if it is older than all.
func reignOf(reigns []Reign, fence uint64) int {
	n := -1
	for i, r := range reigns {
		if r.Begin <= fence {
			n = i
		}
	}
	return n
}
