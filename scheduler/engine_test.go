package scheduler

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/carillon-io/carillon/apierr"
	"github.com/carillon-io/carillon/job"
)

// countingSender answers every attempt at once, and notes each.
type countingSender struct {
	Boundless
	mu    sync.Mutex
	seen  map[job.RunID]int
	early atomic.Int64
	first chan struct{} // closed at the want-th run
	want  int
}

// Cancel implements Sender: every attempt has ended when it could be cancelled.
func (*countingSender) Cancel(job.RunID) {}

// Launch implements Sender.
func (s *countingSender) Launch(d *job.Delivery, done func(job.Outcome)) {
	now := time.Now()
	if now.Before(d.Run.At.Time()) {
		s.early.Add(1)
	}
	s.mu.Lock()
	s.seen[d.Run]++
	if len(s.seen) == s.want {
		close(s.first)
	}
	s.mu.Unlock()
	go done(job.Outcome{Run: d.Run, Attempt: d.Attempt, LaunchedAt: now, Duration: time.Since(now)})
}

func startEngine(t *testing.T, log Log, want int) (*Engine, *countingSender, func() error) {
	return startEngineOn(t, log, newMemStore(), want)
}

func startEngineOn(t *testing.T, log Log, store Store, want int) (*Engine, *countingSender, func() error) {
	sender := &countingSender{seen: make(map[job.RunID]int), first: make(chan struct{}), want: want}
	e, err := Open(Options{Log: log, Store: store, Sender: sender})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	result := make(chan error, 1)
	go func() { result <- e.Serve(ctx) }()
	return e, sender, func() error { cancel(); return <-result }
}

func oneShot(name string, in time.Duration) *job.Definition {
	d := job.Defaults()
	d.Tenant, d.Name, d.Target = "default", name, job.Target{Kind: job.TargetNATS, Subject: "x"}
	d.Schedule = "@at " + time.Now().Add(in).UTC().Format(time.RFC3339Nano)
	return &d
}

// TestManyCallers lets sixteen callers register, update and pause at once, with everything real but
// disk and network: each one-shot fires exactly once and none early.
func TestManyCallers(t *testing.T) {
	const callers, each = 16, 60
	e, sender, stop := startEngine(t, &memLog{}, callers*each)
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	var wg sync.WaitGroup
	for c := range callers {
		wg.Go(func() {
			for i := range each {
				name := fmt.Sprintf("c%d/%d", c, i)
				if _, created, err := e.Put(ctx, oneShot(name, time.Duration(50+i*5)*time.Millisecond), nil); err != nil || !created {
					t.Errorf("put %s: created %t, %v", name, created, err)
				}
			}
			later := oneShot(fmt.Sprintf("c%d/far", c), time.Hour)
			if _, _, err := e.Put(ctx, later, nil); err != nil {
				t.Error(err)
			}
			if v, err := e.Pause(ctx, "default", later.Name, "test", nil); err != nil || v.Status != "paused" {
				t.Errorf("pause: %s, %v", v.Status, err)
			}
		})
	}
	wg.Wait()
	select {
	case <-sender.first:
	case <-ctx.Done():
		t.Fatalf("only %d of %d runs came", len(sender.seen), callers*each)
	}
	e.Drain(ctx)
	if s := e.Status(); s.Succeeded != callers*each || s.Live != 0 || s.Lateness.Count != callers*each {
		t.Errorf("status %+v", s)
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
	for run, n := range sender.seen {
		if n != 1 {
			t.Errorf("run %s came %d times", run, n)
		}
	}
	if n := sender.early.Load(); n != 0 {
		t.Errorf("%d runs were early", n)
	}
}

// TestFiresWithoutBeingAsked starts an engine on jobs that an earlier one had, and leaves it alone.
func TestFiresWithoutBeingAsked(t *testing.T) {
	log, store := &memLog{}, newMemStore()
	e, _, stop := startEngineOn(t, log, store, 1)
	for name, in := range map[string]time.Duration{"soon": 400 * time.Millisecond, "later": 800 * time.Millisecond} {
		if _, _, err := e.Put(context.Background(), oneShot(name, in), nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	_, sender, stop := startEngineOn(t, log, store, 2)
	select {
	case <-sender.first:
	case <-time.After(20 * time.Second):
		t.Error("nothing came")
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
}

// TestFailedLogStopsEverything: after an append fails nothing is acknowledged, nothing leaves, and the
// engine returns what happened.
func TestFailedLogStopsEverything(t *testing.T) {
	log := &failingLog{}
	e, sender, stop := startEngine(t, log, 1)
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	log.failed.Store(true)
	_, _, err := e.Put(ctx, oneShot("a", 0), nil)
	if je := apierr.From(err); je.Code != apierr.Unavailable {
		t.Errorf("the put returned %v", err)
	}
	select {
	case <-e.Done():
	case <-ctx.Done():
		t.Fatal("the engine goes on after its log failed")
	}
	if err := stop(); !errors.Is(err, errDiskGone) {
		t.Errorf("Serve returned %v", err)
	}
	if _, err := e.Pause(ctx, "default", "a", "", nil); apierr.From(err).Code != apierr.Unavailable {
		t.Errorf("a later call returned %v", err)
	}
	if len(sender.seen) != 0 {
		t.Error("a run left although its decision is not durable")
	}
}

// failingLog fails from a moment on.
type failingLog struct {
	memLog
	failed atomic.Bool
}

// Append implements Log.
func (l *failingLog) Append(epoch uint64, batch []byte) (job.Position, error) {
	if l.failed.Load() {
		return job.Position{}, errDiskGone
	}
	return l.memLog.Append(epoch, batch)
}

// TestPutManyKeepsOrderAndPlaces: results stand where their items stood, a refused one touches no
// other, and a name that comes twice is registered and then updated.
func TestPutManyKeepsOrderAndPlaces(t *testing.T) {
	e, _, stop := startEngine(t, &memLog{}, 1)
	defer func() { _ = stop() }()
	refused := errors.New("refused before")
	bad := oneShot("bad", 0)
	bad.Schedule = "61 * * * *"
	item := func(def *job.Definition) (i PutItem) {
		i.Put, i.Err = e.Prepare(t.Context(), def)
		return i
	}
	items := []PutItem{
		item(oneShot("a", time.Hour)), {Err: refused}, item(bad), item(oneShot("b", time.Hour)), item(oneShot("a", 2*time.Hour)),
	}
	got := e.PutMany(context.Background(), items)
	if got[0].Version != 1 || got[3].Version != 1 || got[4].Version != 2 || got[4].ID != got[0].ID || got[3].ID == got[0].ID {
		t.Errorf("%+v", got)
	}
	if got[1].Err != refused || apierr.From(got[2].Err).Code != apierr.InvalidSchedule {
		t.Errorf("errors: %v, %v", got[1].Err, got[2].Err)
	}
	if n := e.Status().Jobs; n != 2 {
		t.Errorf("%d jobs, want 2", n)
	}
}

// TestOptionsAreChecked: a forgotten part is an error, not a crash later.
func TestOptionsAreChecked(t *testing.T) {
	if _, err := Open(Options{}); err == nil {
		t.Error("an engine without a log was opened")
	}
	if _, err := Open(Options{Log: &memLog{}, Store: newMemStore(), Sender: &countingSender{}, LiveMax: -1}); err == nil {
		t.Error("a negative bound was taken")
	}
}
