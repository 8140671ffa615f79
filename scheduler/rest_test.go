package scheduler

import (
	"context"
	"testing"
	"time"

	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/testkit"
)

// restless is a real engine whose jobs tick every 50 ms under each overlap policy, at targets that take a millisecond.
type restless struct {
	*Engine
	log    *stillLog
	sender *shortSender
	served chan error
}

func newRestless(ctx context.Context, t *testing.T) *restless {
	t.Helper()
	r := &restless{log: &stillLog{}, sender: &shortSender{left: make(map[string]int)}, served: make(chan error, 1)}
	r.Engine = must(Open(Options{Log: r.log, Store: newMemStore(), Sender: r.sender, Settings: Settings{Lead: 8 * time.Second}}))
	go func() { r.served <- r.Serve(ctx) }()
	for name, set := range overlapPolicies {
		d := oneShot(name, 0)
		d.Schedule = "@every 50ms"
		set(d)
		if _, _, err := r.Put(ctx, d, nil); err != nil {
			t.Fatal(err)
		}
	}
	r.fires(ctx, t)
	return r
}

// total returns how many runs have left.
func (r *restless) total() (n int) {
	for name := range overlapPolicies {
		n += r.sender.count(name)
	}
	return n
}

// fires waits until a run of each job has left.
func (r *restless) fires(ctx context.Context, t *testing.T) {
	t.Helper()
	for name := range overlapPolicies {
		before := r.sender.count(name)
		if !testkit.Poll(ctx, func() bool { return r.sender.count(name) > before }) {
			t.Errorf("%s does not fire", name)
		}
	}
}

// commits returns how many commits the log has.
func (r *restless) commits() uint64 {
	r.log.mu.Lock()
	defer r.log.mu.Unlock()
	return r.log.lsn
}

// end drains the engine, and checks that each run left once and is recorded.
func (r *restless) end(ctx context.Context, t *testing.T, cancel func()) {
	t.Helper()
	r.Drain(ctx)
	if s := r.Status(); s.Succeeded+s.Cancelled != uint64(r.total()) {
		t.Errorf("%d runs left; %d succeeded and %d were cancelled, which is not all", r.total(), s.Succeeded, s.Cancelled)
	}
	cancel()
	if err := <-r.served; err != nil {
		t.Error(err)
	}
}

// TestRest: an engine at rest launches and commits nothing, and has recorded what it has launched. It goes on after that.
func TestRest(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	r := newRestless(ctx, t)
	for range 5 {
		r.Hold()
		r.Settle(ctx)
		if err := r.Rest(ctx); err != nil {
			t.Fatal(err)
		}
		s, left, commits := r.Status(), r.total(), r.commits()
		if s.Succeeded+s.Cancelled != uint64(left) || s.InFlight != 0 {
			t.Errorf("at rest, %d runs have left, and %+v", left, s)
		}
		waits, end := context.WithTimeout(ctx, 20*time.Millisecond)
		if err := r.Confirm(waits); err == nil {
			t.Error("a commit was made at rest")
		}
		end()
		if r.total() != left || r.commits() != commits {
			t.Errorf("at rest, %d runs left and %d commits were made", r.total()-left, r.commits()-commits)
		}
		r.Continue()
		r.fires(ctx, t)
		if err := r.Confirm(ctx); err != nil || r.commits() == commits {
			t.Errorf("no commit is made after the rest: %v", err)
		}
	}
	r.end(ctx, t, cancel)
}

// TestNoRestWhileTheLogStandsStill: an engine whose log stands still comes to no rest, says so in time, and fires on.
func TestNoRestWhileTheLogStandsStill(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	r := newRestless(ctx, t)
	r.log.mu.Lock()
	r.fires(ctx, t) // its outcome cannot be recorded
	for _, try := range []func(context.Context) error{r.Confirm, r.Rest} {
		waits, end := context.WithTimeout(ctx, 50*time.Millisecond)
		r.Hold()
		if err := try(waits); err == nil {
			t.Error("the log stands still, and all is recorded")
		}
		end()
		r.Continue()
		r.fires(ctx, t)
	}
	r.log.mu.Unlock()
	if err := r.Confirm(ctx); err != nil {
		t.Error(err)
	}
	r.end(ctx, t, cancel)
}

// TestConfirmCommits: a confirmation is a commit, also where there is nothing to write, and changes nothing.
func TestConfirmCommits(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	log := &stillLog{}
	e := must(Open(Options{Log: log, Store: newMemStore(), Sender: &shortSender{left: make(map[string]int)}}))
	next := e.core.Inspect().NextID // while no other goroutine changes it
	served := make(chan error, 1)
	go func() { served <- e.Serve(ctx) }()
	if err := e.Confirm(ctx); err != nil { // in the first step of the engine, or after it
		t.Fatal(err)
	}
	begun := e.opts.Store.Applied().LSN
	for want := begun + 1; want <= begun+3; want++ {
		if err := e.Confirm(ctx); err != nil || e.opts.Store.Applied() != (job.Position{LSN: want, Epoch: 1}) {
			t.Errorf("confirmed at %v (%v), want commit %d", e.opts.Store.Applied(), err, want)
		}
	}
	cancel()
	if err := <-served; err != nil || e.core.Inspect().NextID != next {
		t.Errorf("%v; the next id is %s, and was %s", err, e.core.Inspect().NextID, next)
	}
}
