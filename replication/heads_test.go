package replication

import (
	"testing"
	"time"

	"github.com/carillon-io/carillon/job"
)

// TestHeads lets a follower hear answers and go on, and checks when it had all commits as far as it knows.
func TestHeads(t *testing.T) {
	type step struct {
		asked      time.Duration // of an answer; 0: the follower is at a position
		lsn, epoch uint64
		want       time.Duration
	}
	for name, steps := range map[string][]step{
		"level":                       {{asked: 1, lsn: 5, epoch: 1}, {lsn: 5, epoch: 1, want: 1}},
		"behind":                      {{asked: 1, lsn: 5, epoch: 1}, {lsn: 4, epoch: 1}},
		"level once":                  {{asked: 1, lsn: 5, epoch: 1}, {lsn: 5, epoch: 1, want: 1}, {asked: 2, lsn: 9, epoch: 1}, {lsn: 8, epoch: 1, want: 1}},
		"always a little behind":      {{asked: 1, lsn: 5, epoch: 1}, {lsn: 4, epoch: 1}, {asked: 2, lsn: 7, epoch: 1}, {lsn: 6, epoch: 1, want: 1}, {asked: 3, lsn: 9, epoch: 1}, {lsn: 8, epoch: 1, want: 2}},
		"two answers at once":         {{asked: 1, lsn: 5, epoch: 1}, {asked: 2, lsn: 6, epoch: 1}, {lsn: 6, epoch: 1, want: 2}},
		"an answer that says nothing": {{asked: 1, lsn: 5, epoch: 1}, {asked: 2}, {lsn: 5, epoch: 1, want: 1}},
		"on a branch that has ended":  {{asked: 1, lsn: 5, epoch: 2}, {lsn: 9, epoch: 1}},
		"an answer of an old leader":  {{asked: 1, lsn: 5, epoch: 1}, {lsn: 9, epoch: 2}, {asked: 2, lsn: 10, epoch: 2}, {lsn: 10, epoch: 2, want: 2}},
		"the leader changes":          {{asked: 1, lsn: 9, epoch: 1}, {asked: 2, lsn: 7, epoch: 2}, {asked: 3, lsn: 9, epoch: 2}, {lsn: 8, epoch: 2, want: 2}},
	} {
		t.Run(name, func(t *testing.T) {
			var h heads
			for i, s := range steps {
				if s.asked != 0 {
					h.named(s.asked, &holderReply{Head: s.lsn, Epoch: s.epoch})
				} else if got := h.reached(job.Position{LSN: s.lsn, Epoch: s.epoch}); got != s.want {
					t.Errorf("step %d: it had all at %d, want %d", i, got, s.want)
				}
			}
		})
	}
}
