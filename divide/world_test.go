package divide_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/carillon-io/carillon/datadir"
	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/scheduler"
)

var discard = slog.New(slog.DiscardHandler)

// began is when the stories of these tests begin.
var began = time.Date(2026, 11, 2, 8, 0, 0, 0, time.UTC)

// world is an engine on the real log and store of a shard, in a time that the test sets.
type world struct {
	scheduler.Boundless
	t      *testing.T
	data   *datadir.Shard
	engine *scheduler.Engine
	hand   *scheduler.ManualDriver
	now    time.Time
	reads  byte     // newest version of rows that all nodes read; 0: that of this build
	ends   []func() // attempts that have ended, but in the engine
}

// Now implements scheduler.Clock.
func (w *world) Now() time.Time { return w.now }

// Cancel implements scheduler.Sender.
func (*world) Cancel(job.RunID) {}

// Launch implements scheduler.Sender: the name of a job says how its attempts end.
func (w *world) Launch(d *job.Delivery, done func(job.Outcome)) {
	out := job.Outcome{Run: d.Run, Attempt: d.Attempt, LaunchedAt: w.now}
	switch {
	case strings.HasPrefix(d.Name, "hangs"):
		return
	case strings.HasPrefix(d.Name, "dies"):
		out.Error = "no such thing"
	}
	w.ends = append(w.ends, func() { done(out) })
}

// open opens a shard of a directory, and lets an engine lead it.
func open(t *testing.T, d *datadir.Directory, shard uint32, shards int, now time.Time, reads byte) *world {
	t.Helper()
	w := &world{t: t, now: now, reads: reads}
	var err error
	if w.data, err = d.OpenShard(shard, datadir.ShardOptions{Shards: shards}); err != nil {
		t.Fatal(err)
	}
	w.engine, err = scheduler.Open(scheduler.Options{
		Log: w.data.Log(), Store: w.data.Store(), Sender: w, Clock: w, Logger: discard, Shard: shard,
		Settings: scheduler.Settings{Shards: shards, CompletedRetention: -1},
		RowsMax: func(map[string]byte) (byte, string) {
			if w.reads == 0 {
				return job.RowsVersion, ""
			}
			return w.reads, "node-b"
		},
		Quotas: func() *scheduler.Quotas { return nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	w.hand = w.engine.DriveManually()
	return w
}

func (w *world) close() {
	w.t.Helper()
	if err := errors.Join(w.hand.Close(), w.data.Close()); err != nil {
		w.t.Fatal(err)
	}
}

// ask calls the engine from a goroutine of its own, and answers it.
func (w *world) ask(fn func(ctx context.Context) error) {
	w.t.Helper()
	done := make(chan struct{})
	var err error
	go func() {
		defer close(done)
		err = fn(w.t.Context())
	}()
	for {
		select {
		case <-done:
			if err != nil {
				w.t.Fatal(err)
			}
			return
		default:
			w.hand.Wait(done, nil)
			if err := w.hand.Answer(); err != nil {
				w.t.Fatal(err)
			}
		}
	}
}

// settle does all that is due.
func (w *world) settle() {
	w.t.Helper()
	for {
		if err := w.hand.Settle(); err != nil {
			w.t.Fatal(err)
		}
		if len(w.ends) == 0 {
			return
		}
		ends := w.ends
		w.ends = nil
		for _, end := range ends {
			end()
		}
	}
}

// advance moves the clock, and stops wherever something is due.
func (w *world) advance(d time.Duration) {
	w.t.Helper()
	end := w.now.Add(d)
	for {
		w.settle()
		next := w.hand.Next()
		if next.IsZero() || next.After(end) {
			next = end
		}
		if !next.After(w.now) {
			return
		}
		w.now = next
	}
}

// put registers jobs.
func (w *world) put(defs ...*job.Definition) {
	w.t.Helper()
	w.ask(func(ctx context.Context) error {
		var items []scheduler.PutItem
		for _, d := range defs {
			p, err := w.engine.Prepare(ctx, d)
			items = append(items, scheduler.PutItem{Put: p, Err: err})
		}
		var errs []error
		for i, r := range w.engine.PutMany(ctx, items) {
			if r.Err != nil {
				errs = append(errs, fmt.Errorf("%s: %w", defs[i].Name, r.Err))
			}
		}
		return errors.Join(errs...)
	})
}

// ledger is what callers can read of some engines together, without ids of jobs.
type ledger struct {
	jobs  map[string]string // by tenant and name
	runs  map[string]string // by job, scheduled time and number
	dead  map[string]bool   // the same keys
	audit map[string]int
	ids   map[string]job.ID
}

var tenants = []string{"acme", "default"}

func read(t *testing.T, worlds ...*world) ledger {
	t.Helper()
	l := ledger{make(map[string]string), make(map[string]string), make(map[string]bool), make(map[string]int), make(map[string]job.ID)}
	for _, w := range worlds {
		if err := w.hand.Check(); err != nil {
			t.Error(err)
		}
		for _, tenant := range tenants {
			l.readJobs(w, tenant)
			l.readDead(w, tenant)
			l.readAudit(w, tenant)
		}
	}
	return l
}

func (l ledger) readJobs(w *world, tenant string) {
	w.t.Helper()
	q := scheduler.ListQuery{Tenant: tenant, Limit: scheduler.PageMax}
	for more := true; more; more = q.After != "" {
		page, err := w.engine.List(w.t.Context(), q)
		if err != nil {
			w.t.Fatal(err)
		}
		for i := range page.Jobs {
			v := &page.Jobs[i]
			key := tenant + "/" + v.Def.Name
			if _, twice := l.jobs[key]; twice {
				w.t.Errorf("%s is in two shards", key)
			}
			l.ids[key] = v.ID
			l.jobs[key] = fmt.Sprint(v.Def, v.Version, v.CreatedAt, v.Status, v.StatusReason, v.StatusBy, v.NextRunAt)
			l.readRuns(w, tenant, v.Def.Name)
		}
		q.After, q.Plan = page.Next, page.Plan
	}
}

func (l ledger) readRuns(w *world, tenant, name string) {
	w.t.Helper()
	q := scheduler.RunQuery{Tenant: tenant, Job: name, Limit: scheduler.PageMax}
	for more := true; more; more = q.After != (job.RunID{}) {
		page, err := w.engine.Runs(w.t.Context(), q)
		if err != nil {
			w.t.Fatal(err)
		}
		for _, r := range page.Runs {
			key := runKey(&r)
			if _, twice := l.runs[key]; twice {
				w.t.Errorf("the run %s is there twice", key)
			}
			l.runs[key] = fmt.Sprint(r.Status, r.Reason, r.Until, r.Attempt, r.Error, r.HasPayload, r.Dismissal)
		}
		q.After = page.Next
	}
}

func runKey(r *scheduler.RunView) string {
	return fmt.Sprintf("%s/%s %d %d", r.Tenant, r.Job, r.ID.At, r.ID.Seq)
}

func (l ledger) readDead(w *world, tenant string) {
	w.t.Helper()
	q := scheduler.RunQuery{Tenant: tenant, Status: job.StatusDead, Limit: scheduler.PageMax}
	for more := true; more; more = q.After != (job.RunID{}) {
		page, err := w.engine.Runs(w.t.Context(), q)
		if err != nil {
			w.t.Fatal(err)
		}
		for _, r := range page.Runs {
			l.dead[runKey(&r)] = true
		}
		q.After = page.Next
	}
}

func (l ledger) readAudit(w *world, tenant string) {
	w.t.Helper()
	q := scheduler.AuditQuery{Tenant: tenant, Limit: scheduler.PageMax}
	for more := true; more; more = q.After != (scheduler.AuditPlace{}) {
		page, err := w.engine.Audit(w.t.Context(), q)
		if err != nil {
			w.t.Fatal(err)
		}
		for _, e := range page.Entries {
			if run, err := job.ParseRunID(e.Detail); err == nil {
				if run.Job != e.Job {
					w.t.Errorf("the entry about job %s has the run %s", e.Job, run)
				}
				run.Job = 0
				e.Detail = run.String()
			}
			e.Job = 0
			l.audit[fmt.Sprint(e)]++
		}
		q.After = page.Next
	}
}
