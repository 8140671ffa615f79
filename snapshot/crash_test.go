package snapshot

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"github.com/carillon-io/carillon/testkit"
)

var (
	storeSeed = flag.Uint64("store.seed", 0, "seed of the random store tests; 0 picks one")
	storeRuns = flag.Int("store.runs", 3, "how many stores the crash test makes; 100 is a thorough run of all tests")
)

const thorough = 100

// seeds runs a random test with new seeds, or with the one that was given; with one seed in `make check`.
func seeds(t *testing.T, runs int, test func(t *testing.T, seed uint64)) {
	if testkit.Brief() {
		runs = 1
	}
	for i := range runs {
		seed := *storeSeed
		if seed == 0 {
			seed = testkit.Seed(t)
		}
		if !t.Run(fmt.Sprint(i), func(t *testing.T) { test(t, seed) }) {
			t.Fatalf("repeat with: go test ./snapshot -run '^%s$' -store.runs 1 -store.seed %d", t.Name(), seed)
		}
	}
}

// TestCrashLeavesAPrefix crashes a store at random moments of its life, with checkpoints, flushes and
// compactions beside it. Whatever is left is the state after a whole commit, never before the last
// finished checkpoint; the store says after which commit; and the rest of the log makes it whole.
func TestCrashLeavesAPrefix(t *testing.T) { seeds(t, *storeRuns, crashStore) }

func crashStore(t *testing.T, seed uint64) {
	rng := rand.New(rand.NewPCG(seed, 3))
	mem := vfs.NewCrashableMem()
	s := mustOpen(t, testOptions(mem))
	checkpoints := startCheckpoints(t, s)
	var w twin
	for range 600 {
		w.add(t, s, randomBatch(rng))
		if rng.IntN(60) == 0 {
			checkpoints.ask()
		}
		if rng.IntN(25) == 0 {
			durable := max(checkpoints.durable.Load(), s.Durable().LSN)
			checkCrash(t, mem.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: rng.IntN(3) * 50, RNG: rng}), &w, durable)
		}
	}
	checkpoints.stop()
	mustClose(t, s)
	checkCrash(t, mem.CrashClone(vfs.CrashCloneCfg{}), &w, w.last())
}

// checkpoints makes checkpoints on a goroutine of its own.
type checkpoints struct {
	asked   chan struct{}
	stopped sync.WaitGroup
	durable atomic.Uint64 // LSN of the last one
}

func startCheckpoints(t *testing.T, s *Store) *checkpoints {
	c := &checkpoints{asked: make(chan struct{}, 1)}
	c.stopped.Go(func() {
		for range c.asked {
			at, err := s.Checkpoint(t.Context())
			if err != nil || at.LSN < c.durable.Load() {
				t.Errorf("checkpoint at %v after %d: %v", at, c.durable.Load(), err)
				continue
			}
			c.durable.Store(at.LSN)
		}
	})
	return c
}

// ask wants a checkpoint, unless one is waiting to begin.
func (c *checkpoints) ask() {
	select {
	case c.asked <- struct{}{}:
	default:
	}
}

func (c *checkpoints) stop() {
	close(c.asked)
	c.stopped.Wait()
}

// checkCrash opens what a crash has left and checks it.
func checkCrash(t *testing.T, fs vfs.FS, w *twin, durable uint64) {
	t.Helper()
	s := mustOpen(t, testOptions(fs))
	at := s.Applied()
	if at.LSN < durable || at.LSN > w.last() || at != position(at.LSN) {
		t.Fatalf("a crash left %v; %d was durable and %d applied", at, durable, w.last())
	}
	if s.Durable() != at {
		t.Fatalf("opened at %v with %v durable", at, s.Durable())
	}
	w.checkGoesOn(t, s, w.last())
	mustClose(t, s)
}

// TestCheckpointIsDurable crashes right after each checkpoint and keeps nothing that was not synced. A
// checkpoint with nothing new flushes nothing.
func TestCheckpointIsDurable(t *testing.T) {
	mem := vfs.NewCrashableMem()
	s := mustOpen(t, testOptions(mem))
	defer mustClose(t, s)
	rng := rand.New(rand.NewPCG(1, 1))
	var w twin
	for range 20 {
		w.add(t, s, randomBatch(rng))
		at, err := s.Checkpoint(t.Context())
		if err != nil || at != position(w.last()) || s.Durable() != at {
			t.Fatalf("checkpoint at %v, durable %v, applied %d: %v", at, s.Durable(), w.last(), err)
		}
		checkCrash(t, mem.CrashClone(vfs.CrashCloneCfg{}), &w, at.LSN)
		flushes := s.Metrics().Flushes
		if again, err := s.Checkpoint(t.Context()); err != nil || again != at || s.Metrics().Flushes != flushes {
			t.Fatalf("a second checkpoint at %v with %d flushes after %d: %v", again, s.Metrics().Flushes, flushes, err)
		}
	}
}

// TestCheckpointEndsWithContext: the flush goes on when nobody waits for it.
func TestCheckpointEndsWithContext(t *testing.T) {
	s := mustOpen(t, testOptions(vfs.NewMem()))
	defer mustClose(t, s)
	mustApply(t, s, 1, timerBatch(1))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if at, err := s.Checkpoint(ctx); err != nil && !errors.Is(err, context.Canceled) || err != nil && at != position(0) {
		t.Fatalf("%v, %v", at, err)
	}
	if at, err := s.Checkpoint(t.Context()); err != nil || at != position(1) {
		t.Fatalf("%v, %v", at, err)
	}
}

// TestCrashWhileOpening crashes before every change to the directory from Open on until the first flush,
// which changes the manifest: of a new store, and of one that was used before. Everything that was
// durable is there afterwards.
func TestCrashWhileOpening(t *testing.T) { seeds(t, 1, crashOpening) }

func crashOpening(t *testing.T, seed uint64) {
	rng := rand.New(rand.NewPCG(seed, 7))
	mem := vfs.NewCrashableMem()
	var w twin
	for range 2 {
		durable := w.last()
		var mu sync.Mutex // Pebble changes things from several goroutines
		var left []*vfs.MemFS
		fs := errorfs.Wrap(mem, errorfs.InjectorFunc(func(op errorfs.Op) error {
			mu.Lock()
			defer mu.Unlock()
			for _, kept := range []int{0, 30, 70, 100} {
				if isChange(op) {
					left = append(left, mem.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: kept, RNG: rng}))
				}
			}
			return nil
		}))
		s := mustOpen(t, testOptions(fs))
		w.add(t, s, timerBatch(1))
		mustClose(t, s)
		if len(left) < 40 {
			t.Fatalf("only %d crashes", len(left))
		}
		for _, mem := range left {
			checkCrash(t, mem, &w, durable)
		}
	}
}
