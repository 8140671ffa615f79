package history

import (
	"maps"
	"slices"
	"time"
)

// Fault is a fault that the program has caused in a cluster. The instants divide the time: before From everything is
// normal, until Served no answer is owed, until Healed duplicates and delays are explained.
type Fault struct {
	// Kind is the name of the scenario.
	Kind     string
	Takeover bool    // the fault forces a takeover
	Shards   []int   // that the node led which the fault hit; empty: all
	From     Instant // when the fault began
	Served   Instant // when the cluster served requests again
	Mended   Instant // when the program began to remove the cause, such as by a start of the node that it killed
	Healed   Instant // when the cause was removed and every node was level again
	Released Instant // when the network delivered what it had delayed; 0 if it delayed nothing
	Halted   bool    // a NATS server stood still from From to Mended, and then delivered what lay in its sockets
	Epochs   int     // number of leaderships that began meanwhile, over all shards; the last of each continues
	// Prepares is set if the program broke connections only to prepare the next fault. Such a fault explains what
	// arrived twice like any other, and has no figures of its own.
	Prepares bool
}

// Log is the log of a shard on a node's disk at the end. A log begins where the last checkpoint truncated it. Its commits are
// compared by hash, so a log with other content at the same LSN is found even if its epochs agree.
type Log struct {
	Node    string
	Shard   int
	Commits []Commit        // in order, without gaps
	Runs    map[string]bool // ids of the runs in its commits
}

// Commit is the position of a commit.
type Commit struct {
	LSN   uint64
	Epoch uint64
	Hash  string
}

// forgetWait is the longest time that a request can be under way in a working cluster: the server gives up after 10 s.
// Two seconds beyond that are for the way of the request and for a busy machine.
const forgetWait = 12 * time.Second

// forgotten returns the instant from which a request without an answer can no longer take effect. During
// a fault it may be delayed for any time, so forgetWait counts from when the cluster was healed.
func (h *History) forgotten(op *Op) Instant {
	at := op.Invoked.Add(forgetWait)
	for _, f := range h.Faults {
		if f.From <= at && f.Healed >= op.Invoked {
			at = max(at, f.Healed.Add(forgetWait))
		}
	}
	return at
}

// floodWait is how long delayed messages may take to arrive after the network delivers them.
const floodWait = time.Second

// mayBeHeld reports whether a message that arrived at an instant may have been sent long before. TCP repeats lost
// segments at growing intervals, so the last repetition may come as long after the network is healed as it was broken.
// Such a message proves nothing about who launched it when.
func (h *History) mayBeHeld(arrived Instant) bool {
	for _, f := range h.Faults {
		again := f.Released.Add(f.Released.Sub(f.From))
		if f.Released != 0 && f.Released <= arrived && arrived <= max(again, f.Healed).Add(floodWait) {
			return true
		}
	}
	return false
}

// heldByNetwork reports whether the network may have held a delivery, so that it was sent long before it arrived. That
// does not apply to HTTP, because no fault disturbs the way to that target.
func (h *History) heldByNetwork(d *Delivery) bool {
	return d.Target != "http" && h.mayBeHeld(d.Arrived)
}

// heldByServer reports whether a delivery may have lain in the sockets of a NATS server that stood still: it was due
// before the server went on, and arrived soon after. The message may be that of any node. The process that stood still
// goes on at the same moment, so this is no evidence about a leader that launches although it was replaced. A delivery
// into a stream never counts, because it arrives when the stream's leader stores it.
func (h *History) heldByServer(d *Delivery) bool {
	if d.Target != "nats" && d.Target != "request" {
		return false
	}
	return slices.ContainsFunc(h.Faults, func(f Fault) bool {
		return f.Halted && d.Scheduled < f.Mended && f.Mended <= d.Arrived && d.Arrived <= f.Mended.Add(floodWait)
	})
}

// wasHeld reports whether a delivery may have been launched long before it arrived, so that the order in which it arrived
// says nothing about the order of the launches.
func (h *History) wasHeld(d *Delivery) bool { return h.heldByNetwork(d) || h.heldByServer(d) }

// disturbed reports whether a fault that began before the instant before may have prevented the outcome
// of a delivery that came at arrived from being recorded, or may have delayed the delivery itself. It is the
// counterpart of a death in a cluster, where the process goes on and only its words get lost.
func (h *History) disturbed(arrived, before Instant) bool {
	if h.mayBeHeld(arrived) {
		return true
	}
	for _, f := range h.Faults {
		if f.From <= arrived.Add(inFlightWindow) && f.From <= before && arrived <= f.Served.Add(wireWindow) {
			return true
		}
	}
	return false
}

// Reign is one leadership of a shard, as its logs show it.
type Reign struct {
	Epoch uint64
	Begin uint64  // LSN of its first commit
	First Instant // first arrival of its launches; 0 if none arrived
}

// Reigns returns, by shard, the leaderships that began within the logs, oldest first. Deliveries before the first of
// them belong to none. The epochs come from the logs and not from what nodes say of themselves, because a deposed leader
// may say the wrong thing.
func (h *History) Reigns() [][]Reign {
	if h.Final == nil {
		return nil
	}
	all := make([][]Reign, h.shards())
	for shard := range all {
		all[shard] = reignsOf(h.Begun[shard], h.Final.Logs, shard)
	}
	for i := range h.Deliveries {
		d := &h.Deliveries[i]
		reigns := all[h.shardOf(d.Job)]
		if n := reignOf(reigns, d.Fence); n >= 0 && (reigns[n].First == 0 || d.Arrived < reigns[n].First) {
			reigns[n].First = d.Arrived
		}
	}
	return all
}

// reignsOf merges the first commits of all epochs of a shard.
func reignsOf(begun map[uint64]uint64, logs []Log, shard int) []Reign {
	begins := make(map[uint64]uint64)
	maps.Copy(begins, begun)
	for _, l := range logs {
		if l.Shard == shard {
			l.begins(begins)
		}
	}
	var reigns []Reign
	for _, epoch := range slices.Sorted(maps.Keys(begins)) {
		reigns = append(reigns, Reign{Epoch: epoch, Begin: begins[epoch]})
	}
	return reigns
}

// begins lowers the first LSN of each epoch to the one in the log, if that is less.
func (l *Log) begins(first map[uint64]uint64) {
	for _, c := range l.Commits {
		if begin, ok := first[c.Epoch]; !ok || c.LSN < begin {
			first[c.Epoch] = c.LSN
		}
	}
}

// reignOf returns the index of the leadership to which a fence belongs; -1 if it is older than all. The leaderships
// must be sorted by their first LSN.
func reignOf(reigns []Reign, fence uint64) int {
	n := -1
	for i, r := range reigns {
		if r.Begin <= fence {
			n = i
		}
	}
	return n
}
