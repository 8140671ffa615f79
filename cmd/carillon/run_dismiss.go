package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/carillon-io/carillon/client"
)

// runDismissCmd marks dead runs as dealt with.
type runDismissCmd struct {
	deadSelection
	Reason string `help:"Why the runs need no retry; shown with them." placeholder:"TEXT"`
	remoteFlags
	outputFlag
}

// Help is what `carillon run dismiss --help` says besides the flags.
func (*runDismissCmd) Help() string {
	return `A dismissed run stays in the history with who dismissed it, when and why. run list --dead leaves it out, and run retry of its id starts it again.

Examples:

  carillon run dismiss 0k5s0v8s2m1q4-1764576000000 --reason 'sent by hand'
  carillon run dismiss --dead
  carillon run dismiss --dead --job reports/daily --to 2026-11-08 --reason 'the target was down'`
}

// Run implements the command.
func (c *runDismissCmd) Run(ctx context.Context, con *console) error {
	if err := c.check(); err != nil {
		return err
	}
	if !c.Dead {
		return c.changeRuns(ctx, con, c.RunIDs, c.Output, func(cl *client.Client, ctx context.Context, id string) (client.Run, error) {
			return cl.Dismiss(ctx, client.DismissRequest{RunID: id, Reason: c.Reason})
		})
	}
	r, err := c.connect(ctx)
	if err != nil {
		return err
	}
	defer r.close()
	progress := con.newProgress("run", "dismissed")
	request := client.DismissManyRequest{Job: c.Job, From: c.From.Time, To: c.To.Time, Limit: pageSize(0), Reason: c.Reason}
	n, err := r.DismissAll(ctx, request, func(n int) { progress.Of(int64(n), 0) })
	if err != nil {
		// Those that were dismissed before the error stay dismissed.
		return r.orSimilar(ctx, c.Job, fmt.Errorf("after %s: %w", plural(n, "run"), err))
	}
	if c.isDocument() {
		return c.print(con, struct {
			Dismissed int `json:"dismissed"`
		}{n})
	}
	con.printf("%s dismissed\n", plural(n, "run"))
	return nil
}

// dismissalText says when a run was dismissed, by whom and why.
func dismissalText(r *client.Run) string {
	text := showTime(r.DismissedAt)
	if r.DismissedBy != "" {
		text += " by " + r.DismissedBy
	}
	return strings.TrimSuffix(text+": "+r.DismissReason, ": ")
}
