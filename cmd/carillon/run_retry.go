package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/carillon-io/carillon/client"
)

// runCancelCmd cancels runs.
type runCancelCmd struct {
	RunIDs []string `arg:"" name:"run-id" help:"Ids of the runs." complete:"@live-runs"`
	remoteFlags
	outputFlag
}

// Help is what `carillon run cancel --help` says besides the flags.
func (*runCancelCmd) Help() string {
	return `An attempt that the target already has is not called back, but its outcome no longer counts.

Examples:

  carillon run cancel 0k5s0v8s2m1q4-1764576000000`
}

// Run implements the command.
func (c *runCancelCmd) Run(ctx context.Context, con *console) error {
	return c.changeRuns(ctx, con, c.RunIDs, c.Output, (*client.Client).CancelRun)
}

// changeRuns makes a change to each of several runs. A failure does not stop the others. All errors are returned
// together.
func (f *remoteFlags) changeRuns(
	ctx context.Context, con *console, ids []string, form outputForm,
	change func(c *client.Client, ctx context.Context, runID string) (client.Run, error),
) error {
	r, err := f.connect(ctx)
	if err != nil {
		return err
	}
	defer r.close()
	var errs []error
	for _, id := range ids {
		run, err := change(r.Client, ctx, id)
		if err == nil {
			err = con.printRunState(&run, form)
			// With one id, the error names it already.
		} else if len(ids) > 1 {
			err = fmt.Errorf("%s: %w", id, err)
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// deadSelection are the flags that select runs by their ids, or among the dead ones.
type deadSelection struct {
	RunIDs []string `arg:"" optional:"" name:"run-id" help:"Ids of the runs; or leave them out and give --dead." complete:"@dead-runs"`
	Dead   bool     `help:"Every dead run that the flags select."`
	Job    string   `help:"With --dead: only runs of this job." placeholder:"NAME" complete:"@jobs"`
	From   timeFlag `help:"With --dead: scheduled at or after this time." placeholder:"TIME"`
	To     timeFlag `help:"With --dead: scheduled before this time." placeholder:"TIME"`
}

// check refuses flags that select runs in two ways or in none.
func (c *deadSelection) check() error {
	isFiltered := c.Job != "" || !c.From.IsZero() || !c.To.IsZero()
	switch {
	case c.Dead && len(c.RunIDs) > 0:
		return usagef("want the ids of runs or --dead, and not both")
	case !c.Dead && isFiltered:
		return usagef("--job, --from and --to select among dead runs: give --dead")
	case !c.Dead && len(c.RunIDs) == 0:
		return usagef("want the ids of runs, or --dead")
	}
	return nil
}

// runRetryCmd starts another attempt of dead or cancelled runs.
type runRetryCmd struct {
	deadSelection
	remoteFlags
	outputFlag
}

// Help is what `carillon run retry --help` says besides the flags.
func (*runRetryCmd) Help() string {
	return `A run keeps its id, and its retry policy begins anew. With --dead each run is retried once: one that is dead again before the command ends is not retried again.

Examples:

  carillon run retry 0k5s0v8s2m1q4-1764576000000
  carillon run retry --dead
  carillon run retry --dead --job reports/daily --from 2026-11-01 --to 2026-11-08`
}

// Run implements the command.
func (c *runRetryCmd) Run(ctx context.Context, con *console) error {
	if err := c.check(); err != nil {
		return err
	}
	// Named runs may be dead or cancelled, while --dead selects dead ones only.
	if !c.Dead {
		return c.changeRuns(ctx, con, c.RunIDs, c.Output, (*client.Client).RetryRun)
	}
	r, err := c.connect(ctx)
	if err != nil {
		return err
	}
	defer r.close()
	progress := con.newProgress("run", "retried")
	n, err := r.RetryAll(ctx, client.RetryManyRequest{Job: c.Job, From: c.From.Time, To: c.To.Time, Limit: pageSize(0)}, func(n int) { progress.Of(int64(n), 0) })
	if err != nil {
		// Those that were retried before the error stay retried.
		return r.orSimilar(ctx, c.Job, fmt.Errorf("after %s: %w", plural(n, "run"), err))
	}
	if c.isDocument() {
		return c.print(con, struct {
			Retried int `json:"retried"`
		}{n})
	}
	con.printf("%s retried\n", plural(n, "run"))
	return nil
}
