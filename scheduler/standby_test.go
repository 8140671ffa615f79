package scheduler

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/carillon-io/carillon/apierr"
	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/scheduler/core"
)

// wire is a Log that forwards what it has to a standby, as the stream does, and that a test can make refuse, as after
// the end of its leader's leadership.
type wire struct {
	memLog
	deposed atomic.Bool
	mu      sync.Mutex
	sent    []commit
	came    chan struct{}
}

var errDeposed = errors.New("another leader came first")

// Append implements Log.
func (w *wire) Append(epoch uint64, batch []byte) (job.Position, error) {
	if w.deposed.Load() {
		return job.Position{}, errDeposed
	}
	at, err := w.memLog.Append(epoch, batch)
	w.mu.Lock()
	w.sent = append(w.sent, commit{at, append([]byte(nil), batch...)})
	w.mu.Unlock()
	notify(w.came)
	return at, err
}

// take returns what came since the last call.
func (w *wire) take() []commit {
	w.mu.Lock()
	defer w.mu.Unlock()
	sent := w.sent
	w.sent = nil
	return sent
}

// follow applies what comes until the leader is deposed and everything is applied.
func (w *wire) follow(e *Engine) error {
	for {
		over := w.deposed.Load()
		for _, c := range w.take() {
			if err := e.Apply(c.at, c.batch); err != nil {
				return err
			}
		}
		if over {
			return nil
		}
		<-w.came
	}
}

func startWorker(t *testing.T, log Log, store Store, want int) (Options, *countingSender) {
	t.Helper()
	sender := &countingSender{seen: make(map[job.RunID]int), first: make(chan struct{}), want: want}
	return Options{Log: log, Store: store, Sender: sender}, sender
}

// TestTakeover lets a real engine lead and another follow it. The leader is deposed in the midst of it; the
// other leads at once, and every one-shot that was acknowledged runs, be it due before or after.
func TestTakeover(t *testing.T) {
	const jobs = 200
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	w := &wire{came: make(chan struct{}, 1)}
	opts, before := startWorker(t, w, newMemStore(), jobs)
	leader := must(Open(opts))
	opts, after := startWorker(t, &memLog{}, newMemStore(), 0)
	standby := must(Follow(opts))
	var tail sync.WaitGroup
	tail.Go(func() {
		if err := w.follow(standby); err != nil {
			t.Error(err)
		}
	})
	served := make(chan error, 1)
	go func() { served <- leader.Serve(ctx) }()

	acknowledged := 0
	for i := range jobs {
		if i == jobs/2 {
			w.deposed.Store(true)
		}
		_, _, err := leader.Put(ctx, oneShot(fmt.Sprint(i), time.Duration(i%3)*300*time.Millisecond), nil)
		switch {
		case err == nil:
			acknowledged++
		case apierr.From(err).Code != apierr.Unavailable:
			t.Errorf("put after the deposition: %v", err)
		}
	}
	if err := <-served; !errors.Is(err, errDeposed) {
		t.Fatalf("Serve of the deposed leader returned %v", err)
	}
	notify(w.came)
	tail.Wait()
	if s := standby.Status(); s.Role != "standby" || s.Jobs != acknowledged || s.LSN != w.lsn || s.Commits != 0 {
		t.Fatalf("standby %+v; %d puts were acknowledged, the log is at %d", s, acknowledged, w.lsn)
	}

	standby.opts.Log.(*memLog).lsn = w.lsn
	after.want = acknowledged
	if err := standby.Lead(); err != nil {
		t.Fatal(err)
	}
	go func() { served <- standby.Serve(ctx) }()
	if _, _, err := standby.Put(ctx, oneShot("later", time.Hour), nil); err != nil {
		t.Error(err)
	}
	for ctx.Err() == nil && standby.Status().Live+standby.Status().Armed > 1 {
		_ = standby.submit(ctx, &core.Barrier{})
	}
	runs := make(map[job.RunID]bool)
	for _, s := range []*countingSender{before, after} {
		s.mu.Lock()
		for run := range s.seen {
			runs[run] = true
		}
		s.mu.Unlock()
		if s.early.Load() != 0 {
			t.Error("a run was early")
		}
	}
	if s := standby.Status(); len(runs) != acknowledged || s.Role != "leader" || s.Epoch != 2 || s.Jobs != acknowledged+1 {
		t.Errorf("%d runs of %d jobs; %+v", len(runs), acknowledged, s)
	}
	cancel()
	if err := <-served; err != nil {
		t.Error(err)
	}
}

// TestStandbyRefuses: a standby answers reads, and refuses whatever changes something, at once. It cannot
// serve.
func TestStandbyRefuses(t *testing.T) {
	ctx := context.Background()
	store := newMemStore()
	e, _, stop := startEngineOn(t, &memLog{}, store, 1)
	if _, _, err := e.Put(ctx, oneShot("a", time.Hour), nil); err != nil {
		t.Fatal(err)
	}
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	opts, _ := startWorker(t, &memLog{}, store, 1)
	s := must(Follow(opts))
	run := job.RunID{Job: 1, At: 1}
	acts := map[string]func() error{
		"put":      func() error { _, _, err := s.Put(ctx, oneShot("b", 0), nil); return err },
		"put many": func() error { return s.PutMany(ctx, []PutItem{{Put: must(s.Prepare(ctx, oneShot("c", 0)))}})[0].Err },
		"delete":   func() error { _, err := s.Delete(ctx, "default", "a", nil); return err },
		"pause":    func() error { _, err := s.Pause(ctx, "default", "a", "", nil); return err },
		"resume":   func() error { _, err := s.Resume(ctx, "default", "a", "", nil); return err },
		"trigger": func() error {
			_, err := s.Trigger(ctx, TriggerRequest{Tenant: "default", Job: "a", Key: "k"})
			return err
		},
		"backfill": func() error {
			_, err := s.Backfill(ctx, BackfillRequest{Tenant: "default", Job: "a", From: 1, To: 2})
			return err
		},
		"report":    func() error { _, err := s.Report(ctx, ReportRequest{Tenant: "default", Run: run}); return err },
		"extend":    func() error { _, err := s.Extend(ctx, "default", run, 1, time.Second); return err },
		"cancel":    func() error { _, err := s.CancelRun(ctx, "default", run); return err },
		"retry":     func() error { _, err := s.RetryRun(ctx, "default", run); return err },
		"retry all": func() error { _, _, err := s.RetryDead(ctx, RunQuery{Tenant: "default", Limit: 1}); return err },
		"dismiss":   func() error { _, err := s.DismissRun(ctx, "default", run, ""); return err },
		"dismiss all": func() error {
			_, _, err := s.DismissDead(ctx, RunQuery{Tenant: "default", Limit: 1}, "")
			return err
		},
		"calendar": func() error {
			_, _, err := s.PutCalendar(ctx, &job.Calendar{Tenant: "default", Name: "c", Exclude: []string{"2026-12-25"}})
			return err
		},
		"no calendar": func() error { return s.DeleteCalendar(ctx, "default", "c") },
		"serve":       func() error { return s.Serve(ctx) },
	}
	for name, act := range acts {
		if err := act(); apierr.From(err).Code != apierr.NotLeader {
			t.Errorf("%s: %v", name, err)
		}
	}
	if v, err := s.Get(ctx, "default", "a"); err != nil || v.Status != "active" {
		t.Errorf("get: %+v, %v", v, err)
	}
	if page, err := s.List(ctx, ListQuery{Tenant: "default", Limit: 10}); err != nil || len(page.Jobs) != 1 {
		t.Errorf("list: %d jobs, %v", len(page.Jobs), err)
	}
}

// TestApplyRefuses: a commit that does not come next, and rows that no leader writes, are errors that say
// so, and the engine is of no use afterwards.
func TestApplyRefuses(t *testing.T) {
	batch := func(fill func(b *job.Batch)) []byte {
		var b job.Batch
		fill(&b)
		return b.Bytes()
	}
	good := batch(func(b *job.Batch) { b.PutMeta(core.MetaEpoch, 7) })
	for _, c := range []struct {
		name  string
		lsn   uint64
		batch []byte
		want  string
	}{
		{"a gap", 2, good, "want commit 1 next"},
		{"no batch", 1, []byte{99}, "unknown version"},
		{"a timer without its profile", 1, batch(func(b *job.Batch) { b.PutTimer(5, job.Timer{Profile: 3}) }), "profile 3 is missing"},
		{"a name without its timer", 1, batch(func(b *job.Batch) { b.PutName("a", "b", 5) }), "no timer"},
		{"a range of runs", 1, batch(func(b *job.Batch) { b.DeleteRange([]byte{byte(job.KindRun)}, []byte{byte(job.KindHistory)}) }), "the range from"},
		{"a range beyond its kind", 1, batch(func(b *job.Batch) { b.DeleteRange([]byte{byte(job.KindHistory), 1}, []byte{byte(job.KindNote)}) }), "the range from"},
	} {
		opts, _ := startWorker(t, &memLog{}, newMemStore(), 1)
		e := must(Follow(opts))
		err := e.Apply(job.Position{LSN: c.lsn}, c.batch)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
		if e.Apply(job.Position{LSN: 1}, good) == nil || e.Lead() == nil {
			t.Errorf("%s: the engine goes on", c.name)
		}
	}
}

// TestLeadOnce: an engine that leads follows no other and cannot be promoted again. The first job id is drawn at
// random, and a first attempt that failed has drawn none.
func TestLeadOnce(t *testing.T) {
	log := &memLog{fail: true}
	opts, _ := startWorker(t, log, newMemStore(), 1)
	e := must(Follow(opts))
	if err := e.Lead(); !errors.Is(err, errDiskGone) || e.core.Inspect().NextID != 1 || e.core.Epoch() != 0 || e.Status().Role != "standby" {
		t.Fatalf("a log that fails: %v; next id %s, epoch %d", err, e.core.Inspect().NextID, e.core.Epoch())
	}
	log.fail = false
	if err := e.Lead(); err != nil || e.core.Inspect().NextID == 1 || e.core.Epoch() != 1 {
		t.Fatalf("%v; next id %s, epoch %d", err, e.core.Inspect().NextID, e.core.Epoch())
	}
	defer func() { _ = e.pad.Disarm() }()
	if e.Lead() == nil || e.Apply(job.Position{LSN: 2}, nil) == nil {
		t.Error("the leader was promoted again, or follows")
	}
}

// TestRefusalsAtTheEnd: what comes after the end of a leader of a cluster has certainly not taken effect, and another node leads,
// so that a client may repeat it. A server alone says that it stops.
func TestRefusalsAtTheEnd(t *testing.T) {
	open := map[apierr.Code]func(Options) (*Engine, error){
		apierr.Unavailable: Open,
		apierr.NotLeader: func(o Options) (*Engine, error) {
			e, err := Follow(o)
			if err == nil {
				err = e.Lead()
			}
			return e, err
		},
	}
	for want, open := range open {
		opts, _ := startWorker(t, &memLog{}, newMemStore(), 0)
		e := must(open(opts))
		ctx, stop := context.WithCancel(t.Context())
		waiting := newTicket(&core.Barrier{})
		e.proposals <- waiting // nothing receives it before the end
		stop()
		if err := e.Serve(ctx); err != nil {
			t.Fatal(err)
		}
		_, err := e.Pause(t.Context(), "default", "a", "", nil)
		for _, err := range []error{err, e.await(t.Context(), waiting)} {
			if refusal := apierr.From(err); refusal.Code != want || !strings.Contains(refusal.Message, "nothing has changed") {
				t.Errorf("want %s: %v", want, err)
			}
		}
	}
}
