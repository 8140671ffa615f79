package replication

import "time"

// hearing is what a node knows of whether it hears the others: it hears its own beats where it does. Its times are readings of the
// boot clock. The zero value is that of a node that has just started, and counts as one that hears.
type hearing struct {
	since  time.Duration // when it began to hear again; 0: it always did
	before time.Duration // who was heard after this instant was there before it began to hear nothing
	last   time.Duration // arrival of its newest own beat; 0: none yet
	lacked time.Duration // instant of the last look at which a node that was there was silent; 0: never
}

// gapsFor is how soon after a gap another one is a part of it, for who was there before.
const gapsFor = time.Minute

// hearFor is how long a node hears the others again until it knows what they say: who leads says so several times meanwhile, and has
// written its lease again where NATS has gone back.
const hearFor = 2 * time.Second

// heard records an own beat.
func (h *hearing) heard(now time.Duration) {
	if h.last != 0 && now-h.last >= beatFresh {
		if h.since == 0 || h.last-h.since >= gapsFor {
			h.before = h.last - beatFresh
		}
		h.since = now
	}
	h.last = now
}

// isDeaf reports whether the node hears nothing, or has begun to hear again a moment ago.
func (h *hearing) isDeaf(now time.Duration) bool {
	return h.last != 0 && (now-h.last >= beatFresh || h.hasBegun(hearFor, now))
}

// hasBegun reports whether the node has begun to hear again within a time.
func (h *hearing) hasBegun(within, now time.Duration) bool {
	return h.since != 0 && now-h.since < within
}

// lacks records whether a node that was there before is silent, and reports whether one is, or was until a moment ago.
func (h *hearing) lacks(silent bool, now time.Duration) bool {
	if silent {
		h.lacked = now
	}
	return h.lacked != 0 && now-h.lacked < hearFor
}
