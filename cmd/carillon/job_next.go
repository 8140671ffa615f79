package main

import (
	"cmp"
	"context"
	"time"

	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/schedule"
)

// jobNextCmd prints when a job or a schedule runs next. It asks the server, whose rules of time zones count, and
// not the ones in this binary.
type jobNextCmd struct {
	Name     string   `arg:"" optional:"" help:"Name of a job; or leave it out and give --schedule." complete:"@jobs"`
	Schedule []string `short:"s" help:"A schedule, without any job; may be repeated." placeholder:"SPEC" sep:"none"`
	Exclude  []string `short:"x" help:"Exclusion from the schedule; may be repeated." placeholder:"SPEC" sep:"none"`
	Timezone string   `short:"z" help:"Timezone of the schedule; UTC if left out." placeholder:"ZONE" complete:"@zones"`
	Count    int      `short:"n" help:"How many times." default:"10"`
	After    timeFlag `help:"The times after this one; now if left out." placeholder:"TIME"`
	remoteFlags
	outputFlag
}

// Help is what `carillon job next --help` says besides the flags.
func (*jobNextCmd) Help() string {
	return `A note says where a change of the clock moved, dropped or repeated a time.

Examples:

  carillon job next reports/daily
  carillon job next --schedule '30 2 * * *' --timezone Europe/Berlin --after 2026-03-27 --count 4`
}

// Run implements the command.
func (c *jobNextCmd) Run(ctx context.Context, con *console) error {
	switch {
	case (c.Name == "") == (len(c.Schedule) == 0):
		return usagef("want the name of a job or --schedule, and not both")
	case c.Name != "" && len(c.Exclude) > 0:
		return usagef("--exclude goes with --schedule; a job has its own exclusions")
	}
	r, err := c.connect(ctx)
	if err != nil {
		return err
	}
	defer r.close()
	request := client.NextRequest{Exclude: c.Exclude, Timezone: c.Timezone, Count: c.Count, After: c.After.Time}
	// What the flags leave out, the server fills in as for a job.
	request.Schedule, request.Schedules = oneOrSeveral(c.Schedule)
	if c.Name != "" {
		if request, err = c.ofJob(ctx, r); err != nil {
			return err
		}
	}
	reply, err := r.Next(ctx, request)
	if err != nil {
		return err
	}
	if c.isDocument() {
		return c.print(con, reply)
	}
	if len(reply.Times) == 0 {
		con.notef("no run at or after %s\n", showTime(client.At(cmp.Or(request.After.Time, time.Now()))))
		return nil
	}
	return con.printTimes(reply, request.Timezone)
}

// ofJob returns the request for the schedule of a job. The server counts an @every from the start of the request, so
// the start must be a tick of the job. With several schedules the start stays as it was asked for.
func (c *jobNextCmd) ofJob(ctx context.Context, r *remote) (client.NextRequest, error) {
	j, err := r.Get(ctx, c.Name)
	if err != nil {
		return client.NextRequest{}, r.orSimilar(ctx, c.Name, err)
	}
	request := client.NextRequest{
		Schedule: j.Schedule, Schedules: j.Schedules, Exclude: j.Exclude, Timezone: j.Timezone,
		Count: c.Count, After: c.After.Time, StartsAt: j.StartsAt, EndsAt: j.EndsAt,
	}
	// An @every among several counts from starts_at, which the request has.
	if len(j.Schedules) > 0 {
		return request, nil
	}
	// An error here means that this binary is older than the server; the server then answers from the request as it
	// is.
	s, err := schedule.Parse(schedule.Spec{Expr: j.Schedule, Zone: j.Timezone})
	if err != nil || s.Kind() != schedule.Every || j.NextRunAt.IsZero() {
		return request, nil
	}
	after := c.After.Time
	if after.IsZero() {
		after = client.At(time.Now())
	}
	// The next run of the job is a point of its grid, from which the ticks before it follow.
	if tick, ok := s.Latest(0, millisOf(after), millisOf(j.NextRunAt)); ok {
		request.After = client.At(tick.Time())
	}
	return request, nil
}

// printTimes prints instants in UTC and in local time of their zone, and how far away they are. The zone is only
// for display, so the rules in this binary are good enough; an unknown one is shown in UTC.
func (c *console) printTimes(reply client.NextReply, zone string) error {
	loc, err := schedule.EmbeddedZones().Location(zone)
	if err != nil {
		loc = time.UTC
	}
	titles := []string{"TIME", "IN"}
	if loc != time.UTC {
		titles = []string{"TIME", "IN", zone}
	}
	t := c.table(titles...)
	for _, at := range reply.Times {
		cells := []string{showTime(at), showDistance(time.Until(at.Time))}
		if loc != time.UTC {
			cells = append(cells, at.In(loc).Format("Mon 2006-01-02 15:04:05 MST"))
		}
		t.Row(cells...)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for _, note := range reply.Notes {
		c.printf("note: %s\n", note)
	}
	return nil
}
