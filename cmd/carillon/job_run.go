package main

import (
	"context"
	"time"

	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/job"
)

// jobTriggerCmd runs a job now.
type jobTriggerCmd struct {
	Name           string `arg:"" help:"Name of the job."`
	Payload        string `short:"p" help:"In place of the job's own: JSON text, any other text, @FILE, or - for standard input."`
	IdempotencyKey string `help:"The same key is the same run, so that asking twice does no harm." placeholder:"KEY"`
	remoteFlags
	outputFlag
}

// Help is what `carillon job trigger --help` says besides the flags.
func (*jobTriggerCmd) Help() string {
	return `The schedule of the job goes on as if nothing had been; a paused job may be triggered too.

Examples:

  carillon job trigger reports/daily
  carillon job trigger reports/daily --payload '{"day":"2026-12-01"}' --idempotency-key report-2026-12-01`
}

// Run implements the command.
func (c *jobTriggerCmd) Run(ctx context.Context, con *console) error {
	request := client.TriggerRequest{Name: c.Name, IdempotencyKey: c.IdempotencyKey}
	var err error
	if request.Payload, request.PayloadBase64, err = con.readPayload(c.Payload); err != nil {
		return err
	}
	r, err := c.connect(ctx)
	if err != nil {
		return err
	}
	defer r.close()
	run, err := r.Trigger(ctx, request)
	if err != nil {
		return err
	}
	if c.isJSON() {
		return con.printJSON(client.RunReply{Run: run})
	}
	con.printf("run %s, %s\n", run.RunID, run.Status)
	return nil
}

// jobBackfillCmd runs a job for ticks that are past.
type jobBackfillCmd struct {
	Name  string  `arg:"" help:"Name of the job."`
	From  instant `help:"First instant: RFC 3339, or a day." required:"" placeholder:"TIME"`
	To    instant `help:"End, itself left out." required:"" placeholder:"TIME"`
	Limit int     `help:"The oldest so many ticks; without it there must be at most 1000." placeholder:"N"`
	remoteFlags
	outputFlag
}

// Help is what `carillon job backfill --help` says besides the flags.
func (*jobBackfillCmd) Help() string {
	return `Examples:

  carillon job backfill reports/daily --from 2026-11-01 --to 2026-11-08
  carillon job backfill reports/daily --from 2026-11-01T00:00:00Z --to 2026-12-01T00:00:00Z --limit 10`
}

// Run implements the command.
func (c *jobBackfillCmd) Run(ctx context.Context, con *console) error {
	r, err := c.connect(ctx)
	if err != nil {
		return err
	}
	defer r.close()
	n, err := r.Backfill(ctx, client.BackfillRequest{Name: c.Name, From: c.From.Time, To: c.To.Time, Limit: c.Limit})
	if err != nil {
		return err
	}
	if c.isJSON() {
		return con.printJSON(client.BackfillReply{Runs: n})
	}
	con.printf("%s started\n", plural(n, "run"))
	return nil
}

// jobNextCmd tells when a job or a schedule runs next.
type jobNextCmd struct {
	Name     string  `arg:"" optional:"" help:"Name of a job; or leave it out and give --schedule."`
	Schedule string  `short:"s" help:"A schedule, without any job." placeholder:"SPEC"`
	Timezone string  `short:"z" help:"Zone that the schedule is read in; UTC if left out." placeholder:"ZONE"`
	Count    int     `short:"n" help:"How many times." default:"10"`
	After    instant `help:"From this time on; now if left out." placeholder:"TIME"`
	remoteFlags
	outputFlag
}

// Help is what `carillon job next --help` says besides the flags.
func (*jobNextCmd) Help() string {
	return `Where a change of the clock moved, dropped or repeated a time, a note says so.

Examples:

  carillon job next reports/daily
  carillon job next --schedule '30 2 * * *' --timezone Europe/Berlin --after 2026-03-27 --count 4`
}

// Run implements the command.
func (c *jobNextCmd) Run(ctx context.Context, con *console) error {
	if (c.Name == "") == (c.Schedule == "") {
		return usagef("want the name of a job or --schedule, and not both")
	}
	r, err := c.connect(ctx)
	if err != nil {
		return err
	}
	defer r.close()
	request := client.NextRequest{Schedule: c.Schedule, Timezone: c.Timezone, Count: c.Count, After: c.After.Time}
	if c.Name != "" {
		if request, err = c.ofJob(ctx, r); err != nil {
			return err
		}
	}
	reply, err := r.Next(ctx, request)
	if err != nil {
		return err
	}
	if c.isJSON() {
		return con.printJSON(reply)
	}
	return con.printTimes(reply, request.Timezone)
}

// ofJob makes the request for the schedule of a job. The server counts an @every from the instant that
// it is asked from, so that must be a tick of the job.
func (c *jobNextCmd) ofJob(ctx context.Context, r *remote) (client.NextRequest, error) {
	j, err := r.Get(ctx, c.Name)
	if err != nil {
		return client.NextRequest{}, err
	}
	request := client.NextRequest{
		Schedule: j.Schedule, Timezone: j.Timezone, Count: c.Count, After: c.After.Time,
		StartsAt: j.StartsAt, EndsAt: j.EndsAt,
	}
	s, err := job.ParseSchedule(job.Spec{Expr: j.Schedule, Zone: j.Timezone})
	if err != nil || s.Kind() != job.ScheduleEvery || j.NextRunAt.IsZero() {
		return request, nil
	}
	after := c.After.Time
	if after.IsZero() {
		after = client.At(time.Now())
	}
	if tick, ok := s.Latest(0, millisOf(after), millisOf(j.NextRunAt)); ok {
		request.After = client.At(tick.Time())
	}
	return request, nil
}

// printTimes prints instants in UTC, on the wall clock of their zone, and how far away they are.
func (c *console) printTimes(reply client.NextReply, zone string) error {
	loc, err := time.LoadLocation(zone)
	if err != nil {
		loc = time.UTC
	}
	titles := []string{"TIME", "IN"}
	if loc != time.UTC {
		titles = []string{"TIME", "IN", zone}
	}
	t := newTable(c.out, titles...)
	for _, at := range reply.Times {
		cells := []string{showTime(at), showDistance(time.Until(at.Time))}
		if loc != time.UTC {
			cells = append(cells, at.In(loc).Format("Mon 2006-01-02 15:04:05 MST"))
		}
		t.row(cells...)
	}
	if err := t.flush(); err != nil {
		return err
	}
	for _, note := range reply.Notes {
		c.printf("note: %s\n", note)
	}
	return nil
}
