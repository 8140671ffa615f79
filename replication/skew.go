package replication

import (
	"sync"
	"time"
)

// offsetMost is the difference between the wall clocks of two nodes from which a warning is logged. Jobs are
// due by the leader's clock, so a takeover moves all launches by such a difference.
const offsetMost = time.Second

// skewFor is for how long a clock must differ by about the same, skewDrift, before a warning is logged.
const (
	skewFor   = 2 * time.Second
	skewDrift = offsetMost / 2
)

// skews tells a clock that differs from beats that waited. A node that stood still, or was cut off, receives the beats of
// all that time at once: each is older than it seems by another time, whereas a clock that differs does so by the same time
// in every beat. The zero value is ready. Safe for concurrent use.
type skews struct {
	mu   sync.Mutex
	seen map[string]skew // by node, at most peersMost
}

// skew is by how much a clock is ahead, and since when on the boot clock.
type skew struct{ offset, since time.Duration }

// differs takes by how much a node's clock is ahead of this one's according to a beat that arrived at now on the boot clock,
// negative if it is behind. It reports whether the beats of the last skewFor say that it differs by more than offsetMost.
func (s *skews) differs(node string, offset, now time.Duration) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	one, known := s.seen[node]
	if s.seen == nil || !known && len(s.seen) >= peersMost {
		s.seen = make(map[string]skew)
	}
	if !known || (offset-one.offset).Abs() > skewDrift {
		one = skew{offset, now}
		s.seen[node] = one
	}
	return offset.Abs() > offsetMost && now-one.since >= skewFor
}
