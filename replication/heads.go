package replication

import (
	"sync"
	"time"

	"github.com/carillon-io/carillon/job"
)

// heads is what a follower learns from the answers to its questions about when it had all commits. An answer names the leader's
// newest commit at an instant after the question was sent, so the commits that were acknowledged before that instant of the
// follower's own clock are not newer, however late the answer arrives. A beat does not prove that: nobody knows how old it is.
//
// Safe for concurrent use. The zero value knows nothing.
type heads struct {
	mu     sync.Mutex
	oldest head          // first one that the follower lacks, so that it is reached also by a follower that is always a little behind
	newest head          // last one that the follower lacks
	had    time.Duration // when the follower had all commits, as far as it knows; 0: it does not know
}

// head is a position that a leader has named, and when it was asked.
type head struct {
	at    job.Position
	asked time.Duration // on the follower's boot clock; 0: there is none
}

// named records what the answer to a question that was sent at an instant says.
func (h *heads) named(asked time.Duration, r *holderReply) {
	if r.Head == 0 {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.newest = head{job.Position{LSN: r.Head, Epoch: r.Epoch}, asked}
	if h.oldest.asked == 0 || h.oldest.at.Epoch < r.Epoch { // what an earlier leader named may be on no branch that goes on
		h.oldest = h.newest
	}
}

// reached returns when a follower that is at a position had all commits, as far as it knows; 0: it does not know. A position of
// an older epoch proves nothing, because it may lie on a branch of the log that has ended.
func (h *heads) reached(at job.Position) time.Duration {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.newest.in(at):
		h.had, h.oldest, h.newest = h.newest.asked, head{}, head{}
	case h.oldest.in(at):
		h.had, h.oldest = h.oldest.asked, h.newest
	case at.Epoch > h.newest.at.Epoch: // what an earlier leader has named is not awaited any more
		h.oldest, h.newest = head{}, head{}
	}
	return h.had
}

// in reports whether a log that ends at a position has what a leader named.
func (h head) in(at job.Position) bool {
	return h.asked != 0 && at.Epoch == h.at.Epoch && at.LSN >= h.at.LSN
}
