package scheduler

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/carillon-io/carillon/apierr"
	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/scheduler/core"
)

// numbered is an installation whose jobs are registered one after the other.
type numbered struct {
	t     *testing.T
	store *memStore
	opts  Options
	reads atomic.Uint32 // newest version of rows that all nodes read; the loop reads it
	last  job.ID
}

func newNumbered(t *testing.T) *numbered {
	n := &numbered{t: t, store: newMemStore()}
	n.reads.Store(job.RowsVersion)
	n.opts, _ = startWorker(t, &memLog{}, n.store, 1)
	n.opts.RowsMax = func(map[string]byte) (byte, string) { return byte(n.reads.Load()), "node-b" }
	return n
}

// live lets an engine serve.
func (n *numbered) live(with func(e *Engine)) {
	n.t.Helper()
	e := must(Open(n.opts))
	ctx, cancel := context.WithCancel(n.t.Context())
	ended := make(chan error, 1)
	go func() { ended <- e.Serve(ctx) }()
	with(e)
	cancel()
	<-ended
}

// slotsFrom returns the first id that may carry a slot, as the store has it; 0: none does.
func (n *numbered) slotsFrom() job.ID { return job.ID(storedMeta(n.t, n.store, job.MetaSlotsFrom)) }

// put registers a job.
func (n *numbered) put(e *Engine, name string) (job.ID, error) {
	v, _, err := e.Put(n.t.Context(), &job.Definition{
		Tenant: "acme", Name: name, Schedule: "@every 1h", Retry: job.Retry{MaxAttempts: 1},
		Target: job.Target{Kind: job.TargetNATS, Subject: "x"},
	}, nil)
	return v.ID, err
}

// dense registers jobs whose ids must be the next numbers.
func (n *numbered) dense(e *Engine, names ...string) {
	n.t.Helper()
	for _, name := range names {
		id, err := n.put(e, name)
		if err != nil || n.last != 0 && id != n.last+1 || n.slotsFrom() != 0 {
			n.t.Errorf("job %s comes after job %s (%v), want the next number; slots begin at %s", id, n.last, err, n.slotsFrom())
		}
		n.last = id
	}
}

// slotted registers jobs whose ids must be greater than all before, and carry the slots of their names.
func (n *numbered) slotted(e *Engine, names ...string) {
	n.t.Helper()
	for _, name := range names {
		id, err := n.put(e, name)
		if from := n.slotsFrom(); err != nil || id <= n.last || from == 0 || id < from || id.Slot() != job.SlotOf("acme", name) {
			n.t.Errorf("job %s with slot %d comes after job %s (%v); want a greater one with slot %d, and slots begin at %s",
				id, id.Slot(), n.last, err, job.SlotOf("acme", name), from)
		}
		n.last = id
	}
}

// TestIDsOfNewInstallation: the first id carries a slot, and the counter leaves room for a long life.
func TestIDsOfNewInstallation(t *testing.T) {
	for range 20 {
		n := newNumbered(t)
		n.live(func(e *Engine) { n.slotted(e, "a", "b", "c") })
		n.live(func(e *Engine) { n.slotted(e, "d") })
		if n.last.Counter() > job.CounterMax/2 {
			t.Errorf("the counter is at %d already, of %d", n.last.Counter(), uint64(job.CounterMax))
		}
	}
}

// TestIDsOfAnUpgrade: ids stay dense while a node cannot read a store with slots in them. From the first job after that
// on they carry slots, also in the next life and if an older node comes back.
func TestIDsOfAnUpgrade(t *testing.T) {
	n := newNumbered(t)
	n.live(func(e *Engine) {
		n.reads.Store(job.RowsVersionUnmarked)
		n.dense(e, "a", "b", "c")
		if rows := markedRows(t, n.store); rows != 0 {
			t.Errorf("the store says that it has rows of version %d, want nothing", rows)
		}
		n.reads.Store(job.RowsVersionOfSlots)
		n.slotted(e, "d", "e", "f")
		if rows := markedRows(t, n.store); rows != job.RowsVersionOfSlots {
			t.Errorf("the store says that it has rows of version %d, want %d", rows, job.RowsVersionOfSlots)
		}
		n.reads.Store(job.RowsVersionUnmarked)
		n.slotted(e, "g", "h")
	})
	n.live(func(e *Engine) { n.slotted(e, "i", "j") })
}

// TestIDsUsedUp: when no counter is left, new jobs are refused, with and without slots, and the others go on.
func TestIDsUsedUp(t *testing.T) {
	for name, first := range map[string]job.ID{"slots": job.NewID(job.CounterMax-4, 0), "dense": job.NewID(job.CounterMax-2, 254)} {
		t.Run(name, func(t *testing.T) {
			n := newNumbered(t)
			var b job.Batch
			core.NumberJobs(&b, first)
			if err := n.store.Apply(job.Position{}, b.Bytes()); err != nil {
				t.Fatal(err)
			}
			n.live(func(e *Engine) {
				register := n.slotted
				if name == "dense" {
					register = n.dense
					n.reads.Store(job.RowsVersionUnmarked)
				}
				register(e, "a", "b")
				for range 2 {
					if id, err := n.put(e, "c"); apierr.From(err).Code != apierr.QuotaExceeded {
						t.Errorf("one more job: %s, %v, want %s", id, err, apierr.QuotaExceeded)
					}
				}
				if id, err := n.put(e, "a"); err != nil || id == 0 {
					t.Errorf("an update: %v", err)
				}
			})
			n.live(func(e *Engine) {
				if _, err := n.put(e, "c"); apierr.From(err).Code != apierr.QuotaExceeded {
					t.Errorf("in the next life: %v, want %s", err, apierr.QuotaExceeded)
				}
			})
		})
	}
}
