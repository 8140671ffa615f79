package api

import (
	"context"
	"strings"
	"time"

	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/instant"
	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/schedule"
)

// nextRequest asks for the next ticks of a schedule.
type nextRequest struct {
	def   job.Definition // only its schedule
	after instant.Millis // 0: now
	count int            // 0: the default
}

// nextMembers has the members of a definition that decide its ticks, under the same names.
var nextMembers = object[nextRequest]{
	"schedule":  text(func(q *nextRequest) *string { return &q.def.Schedule }),
	"schedules": lines(schedule.ExpressionsMax, func(q *nextRequest) *[]string { return &q.def.Schedules }),
	"exclude":   lines(schedule.ExcludesMax, func(q *nextRequest) *[]string { return &q.def.Exclude }),
	"timezone":  text(func(q *nextRequest) *string { return &q.def.Timezone }),
	"starts_at": timeField(func(q *nextRequest) *instant.Millis { return &q.def.StartsAt }),
	"ends_at":   timeField(func(q *nextRequest) *instant.Millis { return &q.def.EndsAt }),
	"after":     timeField(func(q *nextRequest) *instant.Millis { return &q.after }),
	"count":     between(1, schedule.PreviewMax, func(q *nextRequest) *int { return &q.count }),
}

// next computes a preview. It reads the clock of the API and not that of the engine, because it decides nothing. It
// runs on the goroutine of the request, with a bounded count, and proposes nothing, so a standby answers it as
// well.
func (x *Executor) next(ctx context.Context, tenant string, q *nextRequest) (any, error) {
	if err := q.def.ValidateSchedules(); err != nil {
		return nil, err
	}
	q.def.Tenant = tenant
	now := instant.Of(time.Now())
	if err := q.def.Settle(now); err != nil {
		return nil, err
	}
	schedule, err := x.opts.Zones.Restore(q.def.Spec(), x.calendarsFor(ctx))
	if err == nil {
		err = schedule.Admit()
	}
	if err != nil {
		return nil, err
	}
	setDefault(&q.after, now)
	setDefault(&q.count, NextCountDefault)
	// The @every of a job counts from its registration. A preview has none, so it counts from after.
	ticks, notes, err := schedule.Preview(ctx, q.after, q.after, q.count)
	if err == nil && len(ticks) == 0 {
		_, err = schedule.Check() // none left, or exclusions that never left one
	}
	if err != nil {
		return nil, err
	}
	reply := &client.NextReply{Times: make([]client.Time, len(ticks)), Notes: notes}
	for i, tick := range ticks {
		reply.Times[i] = timeOf(tick)
	}
	return reply, nil
}

// calendarsFor returns the calendar lookup for a preview. The engine does this itself for jobs. An error of the
// engine appears as a missing calendar, which a preview may say.
func (x *Executor) calendarsFor(ctx context.Context) schedule.CalendarLookup {
	return func(ref string) (exclude []string, ok bool) {
		tenant, name, _ := strings.Cut(ref, "/")
		c, err := x.engine.Calendar(ctx, tenant, name)
		return c.Exclude, err == nil
	}
}

// It has none, so any member is refused as unknown: a caller that expects an option of the status learns that there
// is none.
var statusMembers = object[client.StatusRequest]{}

// status looks at the surroundings first, because a caller that asks for the status wants to know what is wrong at
// that moment. The tenant is ignored: the status is that of the node.
func (x *Executor) status(ctx context.Context, _ string, _ *client.StatusRequest) (any, error) {
	x.opts.Look()
	return x.opts.Status(x.engineStatus(), whoOf(ctx)), nil
}
