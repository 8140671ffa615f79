package replication

import (
	"slices"
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
		"behind by several answers":   {{asked: 1, lsn: 5, epoch: 1}, {asked: 2, lsn: 6, epoch: 1}, {asked: 3, lsn: 7, epoch: 1}, {lsn: 6, epoch: 1, want: 2}, {lsn: 7, epoch: 1, want: 3}},
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

// TestHeadsAreBounded: a follower that is further behind than it can keep heads reaches the first ones one by one, and then the last.
func TestHeadsAreBounded(t *testing.T) {
	var h heads
	for i := range 3 * headsMost {
		h.named(time.Duration(i+1), &holderReply{Head: uint64(i + 1), Epoch: 1})
	}
	for lsn, want := range map[uint64]time.Duration{1: 1, headsMost - 1: headsMost - 1, 3*headsMost - 1: headsMost - 1, 3 * headsMost: 3 * headsMost} {
		one := heads{lacked: slices.Clone(h.lacked)}
		if got := one.reached(job.Position{LSN: lsn, Epoch: 1}); got != want {
			t.Errorf("with %d commits it had all at %d, want %d", lsn, got, want)
		}
	}
}
