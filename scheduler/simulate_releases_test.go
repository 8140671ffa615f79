package scheduler

import (
	"bytes"
	"math/rand/v2"

	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/scheduler/core"
)

// Releases: in some worlds with quotas a node of the release before them is still there, as during a rolling upgrade, and
// leads at times. It holds no quota, and keeps no sums of bytes: those in the store are then as its predecessor left them.
// The next leader of this release has to count the definitions again.

// simReleases says which release a process is of. It draws from random numbers of its own.
type simReleases struct {
	rng  *rand.Rand      // nil: all are of this release
	old  bool            // the process that starts, or lives
	olds map[uint64]bool // epochs that an old one has led
}

// beginReleases draws whether there is an old node.
func (w *world) beginReleases() {
	rng := rand.New(rand.NewPCG(w.plan.seed, 14))
	if w.plan.drawsQuotas() && rng.IntN(2) == 0 {
		w.releases = simReleases{rng: rng, olds: make(map[uint64]bool)}
	}
}

// drawRelease draws of which release a process is that starts.
func (w *world) drawRelease() {
	r := &w.releases
	if r.rng == nil {
		return
	}
	was := r.old
	if r.old = r.rng.IntN(4) == 0; r.old != was {
		w.tellQuotas()
	}
}

// afterStart takes in whether a process that has started has to count. Now and then it dies while it does.
func (w *world) afterStart() {
	r := &w.releases
	w.model.quotas.counting = w.engine.core.IsCounting()
	if r.rng == nil {
		return
	}
	w.engine.core.Limit(core.Limits{CountRows: 1 + r.rng.IntN(20)})
	if life := w.life; w.model.quotas.counting && r.rng.IntN(3) == 0 {
		w.after(1+int64(r.rng.IntN(200)), func() {
			if w.life == life && w.alive {
				w.lose = false
				w.die()
			}
		})
	}
}

// written returns the rows of a batch that the process writes in an epoch: an old one writes no sums.
func (r *simReleases) written(epoch uint64, batch []byte) ([]byte, error) {
	if !r.olds[epoch] {
		return batch, nil
	}
	var b job.Batch
	sums, counted := job.AppendMetaKey(nil, "bytes/"), job.AppendMetaKey(nil, "bytes_epoch")
	err := job.Changes(batch, func(c job.Change) error {
		switch {
		case bytes.HasPrefix(c.Key, sums) || bytes.Equal(c.Key, counted):
		case c.Op == job.OpPut:
			b.Put(c.Key, c.Value)
		case c.Op == job.OpDelete:
			b.Delete(c.Key)
		default:
			b.DeleteRange(c.Key, c.Value)
		}
		return nil
	})
	return b.Bytes(), err
}

// simStore is a store that gets what the process of an epoch writes.
type simStore struct {
	*memStore
	releases *simReleases
}

// Apply implements Store.
func (s simStore) Apply(at job.Position, batch []byte) error {
	batch, err := s.releases.written(at.Epoch, batch)
	if err != nil {
		return err
	}
	return s.memStore.Apply(at, batch)
}
