package main

import (
	"context"

	"github.com/carillon-io/carillon/client"
)

// jobTriggerCmd runs a job now. Without a key, a request that is repeated after a timeout may start a second run.
type jobTriggerCmd struct {
	Name           string  `arg:"" help:"Name of the job." complete:"@jobs"`
	Payload        string  `short:"p" help:"In place of the job's own: JSON text, any other text, @FILE, or - for standard input."`
	IdempotencyKey string  `help:"A second request with the same key returns the same run and starts no other." placeholder:"KEY"`
	IfVersion      *uint32 `help:"Only if the job is at this version." placeholder:"N"`
	remoteFlags
	outputFlag
}

// Help is what `carillon job trigger --help` says besides the flags.
func (*jobTriggerCmd) Help() string {
	return `The schedule of the job is not affected. A paused job can be triggered too.

Examples:

  carillon job trigger reports/daily
  carillon job trigger reports/daily --payload '{"day":"2026-12-01"}' --idempotency-key report-2026-12-01`
}

// Run implements the command.
func (c *jobTriggerCmd) Run(ctx context.Context, con *console) error {
	request := client.TriggerRequest{Name: c.Name, IdempotencyKey: c.IdempotencyKey, IfVersion: c.IfVersion}
	var err error
	// The payload is read before the connection is made, so that a missing file costs no request.
	if request.Payload, request.PayloadBase64, err = con.readPayload(c.Payload, "--payload "); err != nil {
		return err
	}
	r, err := c.connect(ctx)
	if err != nil {
		return err
	}
	defer r.close()
	run, err := r.Trigger(ctx, request)
	if err != nil {
		return r.orSimilar(ctx, c.Name, err)
	}
	if c.isDocument() {
		return c.print(con, client.RunReply{Run: run})
	}
	con.printf("run %s, %s\n", run.RunID, run.Status)
	return nil
}

// jobBackfillCmd runs a job for past ticks. Limit is the caller's bound; the server has one of its own for a
// request.
type jobBackfillCmd struct {
	Name  string   `arg:"" help:"Name of the job." complete:"@jobs"`
	From  timeFlag `help:"First instant: RFC 3339, or a day." required:"" placeholder:"TIME"`
	To    timeFlag `help:"Last instant, exclusive." required:"" placeholder:"TIME"`
	Limit int      `help:"Only this number of the oldest ticks. Without it, there must be at most 1000." placeholder:"N"`

	Repeat bool `help:"Also ticks that have fired, with new run ids."`
	DryRun bool `help:"List the ticks, and change nothing."`
	remoteFlags
	outputFlag
}

// Help is what `carillon job backfill --help` says besides the flags.
func (*jobBackfillCmd) Help() string {
	return `Examples:

  carillon job backfill reports/daily --from 2026-11-01 --to 2026-11-08
  carillon job backfill reports/daily --from 2026-11-01T00:00:00Z --to 2026-12-01T00:00:00Z --limit 10
  carillon job backfill reports/daily --from 2026-11-01 --to 2026-11-08 --dry-run

Ticks that have fired are left out unless --repeat is given. Ticks that were skipped are fired.`
}

// Run implements the command.
func (c *jobBackfillCmd) Run(ctx context.Context, con *console) error {
	r, err := c.connect(ctx)
	if err != nil {
		return err
	}
	defer r.close()
	done, err := r.BackfillTicks(ctx, client.BackfillRequest{
		Name: c.Name, From: c.From.Time, To: c.To.Time, Limit: c.Limit, Repeat: c.Repeat, DryRun: c.DryRun,
	})
	if err != nil {
		return r.orSimilar(ctx, c.Name, err)
	}
	if c.isDocument() {
		return c.print(con, done)
	}
	// The server lists them for a dry run only.
	for _, at := range done.Times {
		con.printf("%s\n", at)
	}
	verb := "started"
	if c.DryRun {
		verb = "would start"
	}
	con.printf("%s %s, %s left out\n", plural(done.Runs, "run"), verb, plural(done.LeftOut, "tick"))
	return nil
}
