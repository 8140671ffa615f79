package scheduler

import (
	"math/rand/v2"

	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/scheduler/core"
)

// The ids of a world: half of the worlds begin as new installations, half as one that an earlier release made. There
// ids begin to carry slots in the middle of a life, when the last node is upgraded.

// simIDs says which ids an engine may give out. It draws from random numbers of its own.
type simIDs struct {
	rng     *rand.Rand
	slotsAt int64 // real milliseconds from which on all nodes can read ids with slots; before, one cannot
}

// number draws the first id of a world, and writes it into a batch. Dense ids begin at a small number: the counters of
// the ids with slots are then the same numbers again.
func (w *world) number(b *job.Batch) {
	w.ids.rng = rand.New(rand.NewPCG(w.plan.seed, 13))
	first := job.NewID(1<<20|1, 0)
	if w.ids.rng.IntN(2) == 0 {
		first = job.ID(2 + w.ids.rng.IntN(600))
		w.ids.slotsAt = w.passed + int64(w.ids.rng.Float64()*float64(w.end-w.passed))
	}
	core.NumberJobs(b, first)
}

// maySlot reports whether all nodes can read ids with slots.
func (w *world) maySlot() bool { return w.passed >= w.ids.slotsAt }

// rowsMax is the version of rows that all nodes read. An older node may come back when ids carry slots already.
func (w *world) rowsMax(map[string]byte) (version byte, node string) {
	back := w.model.ids.slotsFrom != 0 && w.ids.rng.IntN(8) == 0
	if back || !w.maySlot() {
		return job.RowsVersionOfSlots - 1, "old"
	}
	return job.RowsVersion, ""
}
