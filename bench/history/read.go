package history

import (
	"fmt"
	"io"
	"sync"
	"time"
)

// settleWait is the time before the final read by which a run must have been due, so that it must have ended. It is
// above the longest pause between the attempts of a run that the sink refuses in the end.
const settleWait = 1500 * time.Millisecond

// LastDue returns when the last one-shot is due.
func (h *History) LastDue() Instant {
	last := Instant(0)
	for i := range h.Ops {
		if op := &h.Ops[i]; op.Spec != nil && op.Spec.Kind == oneShot {
			last = max(last, op.Spec.Due)
		}
	}
	return last
}

// ReadAll reads every job and every run from the server. It reads page by page through the public API, as an operator
// would, and its cost grows with all runs of the server.
func ReadAll(api *Caller, progress io.Writer) (*Final, error) {
	at := Now()
	f := &Final{At: at, Horizon: at.Add(-settleWait), Jobs: make(map[string]JobState), Runs: make(map[string][]Run)}
	// The names are kept in a list as well, because the readers divide it among them.
	var names []string
	for cursor := ""; ; {
		var page jobsPage
		if err := api.Ask("jobs.list", pageRequest{Limit: 500, Cursor: cursor}, &page); err != nil {
			return nil, err
		}
		for _, j := range page.Jobs {
			// No job is registered any more, so the pages must not overlap.
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
	fmt.Fprintf(progress, "reading the runs of %d jobs\n", len(names))
	return f, api.readRuns(names, f)
}

// readRuns reads the runs of jobs into f, several jobs at a time. After an error the others go on, and one of the
// errors is returned.
func (c *Caller) readRuns(names []string, f *Final) error {
	const readers = 8
	var mu sync.Mutex
	var wg sync.WaitGroup
	var failed error
	for i := range readers {
		wg.Go(func() {
			for j := i; j < len(names); j += readers {
				runs, err := c.runsOf(names[j])
				// A map must not be written by two goroutines at a time, even under different keys.
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

// runsOf reads all runs of one job, page by page. A page that names a run twice is found by checkRuns.
func (c *Caller) runsOf(name string) ([]Run, error) {
	var runs []Run
	for cursor := ""; ; {
		var page runsPage
		if err := c.Ask("runs.list", pageRequest{Job: name, Limit: 1000, Cursor: cursor}, &page); err != nil {
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

// run returns the run of a reply. A time that is not valid is an error, because no check could compare it.
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
