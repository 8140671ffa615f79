package replication

import (
	"slices"
	"sync"
	"time"

	"github.com/carillon-io/carillon/job"
)

// heads is what a follower learns from the answers to its questions about when it had all commits. An answer names the leader's
// newest commit at an instant after the question was sent, so the commits that were acknowledged before that instant of the
// follower's own clock are not newer, however late the answer arrives. A beat does not prove that: how old it is cannot be known.
//
// Safe for concurrent use. The zero value knows nothing.
type heads struct {
	mu     sync.Mutex
	lacked []head        // those that the follower lacks, in their order, of one epoch: at most headsMost
	had    time.Duration // when the follower had all commits, as far as it knows; 0: it does not know
}

// headsMost is how many heads a follower awaits at most. The first ones stay, so that also a follower reaches them that is always a
// little behind, as over a slow link. A larger number tells it more exactly since when it lacks something where it is
// behind by more than as many questions.
const headsMost = 16

// head is a position that a leader has named, and when it was asked.
type head struct {
	at    job.Position
	asked time.Duration // on the follower's boot clock
}

// named records what the answer to a question that was sent at an instant says.
func (h *heads) named(asked time.Duration, r *holderReply) {
	if r.Head == 0 {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	last := len(h.lacked) - 1
	switch named := (head{job.Position{LSN: r.Head, Epoch: r.Epoch}, asked}); {
	case last >= 0 && h.lacked[last].at.Epoch > r.Epoch: // an earlier leader has named it
	case last >= 0 && h.lacked[last].at.Epoch < r.Epoch: // what an earlier leader named may be on no branch that goes on
		h.lacked = append(h.lacked[:0], named)
	case last+1 == headsMost:
		h.lacked[last] = named
	default:
		h.lacked = append(h.lacked, named)
	}
}

// reached returns when a follower that is at a position had all commits, as far as it knows; 0: it does not know. A position of
// an older epoch proves nothing, because it may lie on a branch of the log that has ended.
func (h *heads) reached(at job.Position) time.Duration {
	h.mu.Lock()
	defer h.mu.Unlock()
	for i := len(h.lacked) - 1; i >= 0; i-- {
		if h.lacked[i].in(at) {
			h.had = h.lacked[i].asked
			h.lacked = slices.Delete(h.lacked, 0, i+1)
			break
		}
	}
	if len(h.lacked) > 0 && at.Epoch > h.lacked[0].at.Epoch { // what an earlier leader has named is not awaited any more
		h.lacked = h.lacked[:0]
	}
	return h.had
}

// in reports whether a log that ends at a position has what a leader named.
func (h head) in(at job.Position) bool {
	return at.Epoch == h.at.Epoch && at.LSN >= h.at.LSN
}
