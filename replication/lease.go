package replication

import (
	"encoding/json"
	"fmt"
	"time"
)

// The lease says who may try to lead. It is a hint that is right nearly always: the log is the fence.
// Times are of a clock that only runs forward and does not stop while the machine sleeps; each node
// compares its own with its own.

// leaseValue is what the bucket holds.
type leaseValue struct {
	Version  int    `json:"version"`
	Cluster  string `json:"cluster"`
	Node     string `json:"node"`
	Term     uint64 `json:"term"`     // counts the holders
	Renewal  uint64 `json:"renewal"`  // counts the renewals of the term
	Released bool   `json:"released"` // the holder gave it up
	To       string `json:"to"`       // whom it was given up for; "" is anybody
}

const leaseVersion = 1

func (v leaseValue) encode() []byte {
	v.Version = leaseVersion
	b, _ := json.Marshal(v) // strings and numbers: it cannot fail
	return b
}

// after tells whether a value was written after another.
func (v leaseValue) after(o leaseValue) bool {
	return v.Term > o.Term || v.Term == o.Term && v.Renewal > o.Renewal
}

func decodeLease(b []byte) (v leaseValue, err error) {
	if err := json.Unmarshal(b, &v); err != nil {
		return v, fmt.Errorf("replication: the lease is damaged: %w", err)
	}
	if v.Version != leaseVersion {
		return v, fmt.Errorf("replication: the lease has version %d, and this program knows %d", v.Version, leaseVersion)
	}
	return v, nil
}

// tenure is the holder's side of the lease: until when it may launch.
type tenure struct {
	lease  time.Duration // L: how long others wait without a renewal
	margin time.Duration // of L, for clocks that run at different rates
	cutoff time.Duration // how long it may launch without a way to the others
	grace  time.Duration // how long it may launch without having looked for the way

	renewed  time.Duration // when the last renewal that succeeded was begun
	looked   time.Duration // when the way to the others was looked at last; 0: not yet
	unlinked time.Duration // since when there has been no way to the others; 0: there is one
	relinked time.Duration // when the way came back after too long: a renewal must begin after it
}

// succeeded notes a renewal that was begun at an instant.
func (t *tenure) succeeded(begun time.Duration) {
	t.renewed = max(t.renewed, begun)
	if t.relinked != 0 && begun >= t.relinked {
		t.relinked = 0
	}
}

// link notes whether there is a way to the others. Who cannot be reached may be taken for dead, so that
// it must stop by itself, and sooner than the others have made sure. Since when there is no way is not
// known better than to the last look; and a process that stood still for longer than the others wait may
// have lost its way and found it again meanwhile.
func (t *tenure) link(now time.Duration, linked bool) {
	last := t.looked
	t.looked = now
	switch {
	case last != 0 && now-last >= t.grace:
		t.relinked = now
		if t.unlinked = 0; !linked {
			t.unlinked = now
		}
	case !linked && t.unlinked == 0:
		t.unlinked = now
		if last != 0 {
			t.unlinked = last
		}
	case linked && t.unlinked != 0:
		if now-t.unlinked >= t.cutoff {
			t.relinked = now
		}
		t.unlinked = 0
	}
}

// until returns the end of the trust.
func (t *tenure) until() time.Duration {
	if t.relinked != 0 {
		return 0
	}
	end := t.renewed + t.lease - t.margin
	if t.looked != 0 {
		end = min(end, t.looked+t.grace)
	}
	if t.unlinked != 0 {
		end = min(end, t.unlinked+t.cutoff)
	}
	return end
}

// left returns how long the lease would carry on without a further renewal; 0 without trust.
func (t *tenure) left(now time.Duration) time.Duration {
	if t.until() <= now {
		return 0
	}
	return t.renewed + t.lease - t.margin - now
}

// rival is a challenger's view of the lease.
type rival struct {
	node  string
	lease time.Duration
	grace time.Duration // between the two times that nobody answers for the holder
	swift bool          // nobody answering is enough: the log is the fence
	// cautious says that there has been a cluster before: a lease that is not there may have been lost.
	cautious bool

	value    leaseValue
	revision uint64        // 0: there is no lease; the value is that of the last one then
	seen     time.Duration // when this revision was first seen
	silent   time.Duration // since when nobody answers for the holder; 0: somebody does, or might
	gone     bool          // and again after the grace
}

// saw notes a revision of the lease. One that is not newer is no news, unless what it says is: then the
// bucket was made anew, and its revisions began again.
func (r *rival) saw(now time.Duration, revision uint64, v leaseValue) {
	if r.revision != 0 && (revision < r.revision && !v.after(r.value) || revision == r.revision && v == r.value) {
		return
	}
	if v.Node != r.value.Node || v.Term != r.value.Term || revision < r.revision || r.revision == 0 {
		r.silent, r.gone = 0, false
	}
	r.revision, r.value, r.seen = revision, v, now
}

// vanished notes that the bucket has no lease. If it had one, somebody made it anew: the holder does not
// know yet, and has as long as if this were a renewal.
func (r *rival) vanished(now time.Duration) {
	if r.revision != 0 {
		r.revision, r.seen, r.silent, r.gone = 0, now, 0, false
	}
}

// heard notes what became of a question to the holder: nobody is there to answer, or somebody may be.
func (r *rival) heard(now time.Duration, nobody bool) {
	switch {
	case !nobody:
		r.silent, r.gone = 0, false
	case r.silent == 0:
		r.silent = now
	default:
		r.gone = now-r.silent >= r.grace
	}
}

// opening says why the lease may be taken now; "" if it may not.
func (r *rival) opening(now time.Duration) string {
	switch {
	case r.revision == 0 && r.value.Node == "" && r.cautious && now-r.seen < r.lease:
		return "" // there may have been one: somebody may still trust it
	case r.revision == 0 && r.value.Node == "":
		return "nobody holds the lease"
	case now-r.seen >= r.lease:
		return r.value.Node + " has not renewed the lease"
	case r.revision == 0: // and who holds it now is not known
		return ""
	case r.value.Released:
		if r.value.To == "" || r.value.To == r.node || now-r.seen >= handoverTime {
			return r.value.Node + " has given the lease up"
		}
		return ""
	case r.value.Node == r.node:
		return "the lease is this node's from before"
	case r.swift && r.gone:
		return "nobody answers for " + r.value.Node
	default:
		return ""
	}
}

// handoverTime is how long the lease is left to the node that it was given up for.
const handoverTime = 2 * time.Second

// claim returns the lease as this node would take it.
func (r *rival) claim(cluster ClusterID) leaseValue {
	return leaseValue{Cluster: cluster.String(), Node: r.node, Term: r.value.Term + 1}
}
