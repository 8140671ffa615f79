package main

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// What the end of a run waits for: after the last job was due, all runs have had drainWait to be
// launched and retried; those that ended up to settleWait before the read must be over.
const (
	drainWait  = 3 * time.Second
	settleWait = 1500 * time.Millisecond
)

// settle ends the load, kills the server once more, lets all that is due fire without anybody asking
// for anything, reads everything, stops the server and verifies its log.
func (r *rig) settle(ctx context.Context) error {
	r.stopLoad()
	r.clients.Wait()
	r.sink.relent()
	if r.proc.isGone() {
		return fmt.Errorf("the server ended by itself: %v; the end of its log:\n%s", r.proc.err, tail(r.launcher.stderrPath()))
	}
	r.rec.Die(r.proc.kill())
	if err := r.rise(); err != nil {
		return err
	}
	wait := max(drainWait, r.lastDue().sub(now())+drainWait)
	fmt.Fprintf(r.progress, "load is over; waiting %s for what is due\n", wait.Round(time.Millisecond))
	time.Sleep(wait)
	if r.proc.isGone() {
		return fmt.Errorf("the server ended by itself: %v; the end of its log:\n%s", r.proc.err, tail(r.launcher.stderrPath()))
	}
	f, err := r.readAll()
	if err != nil {
		return err
	}
	if err := r.persist("stream", func() error { return r.sink.readStream(ctx) }); err != nil {
		return err
	}
	d, err := r.proc.stop()
	r.rec.Die(d)
	if err != nil {
		r.rec.Surprise(err.Error())
	}
	f.Log = r.launcher.verifyLog()
	r.rec.Conclude(f)
	return nil
}

// lastDue returns when the last one-shot comes due.
func (r *rig) lastDue() Instant {
	last := Instant(0)
	for _, op := range r.rec.Snapshot().Ops {
		if op.Spec != nil && op.Spec.Kind == oneShot {
			last = max(last, op.Spec.Due)
		}
	}
	return last
}

// readAll asks the server for every job and every run.
func (r *rig) readAll() (*Final, error) {
	at := now()
	f := &Final{At: at, Horizon: at.add(-settleWait), Jobs: make(map[string]JobState), Runs: make(map[string][]Run)}
	var names []string
	for cursor := ""; ; {
		var page jobsPage
		if err := r.mustCall("jobs.list", pageRequest{Limit: 500, Cursor: cursor}, &page); err != nil {
			return nil, err
		}
		for _, j := range page.Jobs {
			if _, twice := f.Jobs[j.Name]; twice {
				return nil, fmt.Errorf("jobs.list names %s twice", j.Name)
			}
			f.Jobs[j.Name] = *j.state()
			names = append(names, j.Name)
		}
		if cursor = page.Cursor; cursor == "" {
			break
		}
	}
	fmt.Fprintf(r.progress, "reading the runs of %d jobs\n", len(names))
	return f, r.readRuns(names, f)
}

// readRuns fills in the runs of jobs, several jobs at a time.
func (r *rig) readRuns(names []string, f *Final) error {
	const readers = 8
	var mu sync.Mutex
	var wg sync.WaitGroup
	var failed error
	for i := range readers {
		wg.Go(func() {
			for j := i; j < len(names); j += readers {
				runs, err := r.runsOf(names[j])
				mu.Lock()
				f.Runs[names[j]] = runs
				if err != nil {
					failed = err
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	return failed
}

func (r *rig) runsOf(name string) ([]Run, error) {
	var runs []Run
	for cursor := ""; ; {
		var page runsPage
		if err := r.mustCall("runs.list", pageRequest{Job: name, Limit: 1000, Cursor: cursor}, &page); err != nil {
			return nil, err
		}
		for _, reply := range page.Runs {
			run, err := reply.run()
			if err != nil {
				return nil, fmt.Errorf("runs.list of %s: %w", name, err)
			}
			runs = append(runs, run)
		}
		if cursor = page.Cursor; cursor == "" {
			return runs, nil
		}
	}
}

func (r *rig) mustCall(verb string, in, out any) error {
	if res := r.api.call(verb, in, out); res.outcome != acked {
		return fmt.Errorf("%s: %s", verb, res.code)
	}
	return nil
}

func (w runReply) run() (Run, error) {
	scheduled, err := parseInstant(w.ScheduledAt)
	if err != nil {
		return Run{}, err
	}
	until, err := parseInstant(w.Until)
	return Run{
		ID: w.RunID, Scheduled: scheduled, Until: until, Status: w.Status, Reason: w.Reason,
		Attempt: w.Attempt, Manual: w.Manual, Error: w.Error,
	}, err
}
