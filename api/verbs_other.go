package api

import (
	"context"
	"strings"
	"time"

	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/job"
)

// nextRequest asks when a schedule would tick.
type nextRequest struct {
	def   job.Definition // its schedule alone
	after job.Millis     // 0: now
	count int            // 0: the default
}

var nextMembers = object[nextRequest]{
	"schedule":  text(func(q *nextRequest) *string { return &q.def.Schedule }),
	"schedules": lines(job.SchedulesMax, func(q *nextRequest) *[]string { return &q.def.Schedules }),
	"exclude":   lines(job.ExcludesMax, func(q *nextRequest) *[]string { return &q.def.Exclude }),
	"timezone":  text(func(q *nextRequest) *string { return &q.def.Timezone }),
	"starts_at": instant(func(q *nextRequest) *job.Millis { return &q.def.StartsAt }),
	"ends_at":   instant(func(q *nextRequest) *job.Millis { return &q.def.EndsAt }),
	"after":     instant(func(q *nextRequest) *job.Millis { return &q.after }),
	"count":     between(1, job.PreviewMax, func(q *nextRequest) *int { return &q.count }),
}

func (s *Service) next(ctx context.Context, tenant string, q *nextRequest) (any, error) {
	if err := q.def.ValidateSchedules(); err != nil {
		return nil, err
	}
	q.def.Tenant = tenant
	schedule, err := s.opts.Zones.ParseScheduleWith(q.def.Spec(), s.calendarsFor(ctx))
	if err != nil {
		return nil, err
	}
	setDefault(&q.after, job.MillisOf(time.Now()))
	setDefault(&q.count, NextCountDefault)
	// A job's @every counts from its registration; here there is none, so it counts from after.
	ticks, notes := schedule.Preview(q.after, q.after, q.count)
	reply := &client.NextReply{Times: make([]client.Time, len(ticks)), Notes: notes}
	for i, tick := range ticks {
		reply.Times[i] = timeOf(tick)
	}
	return reply, nil
}

// calendarsFor finds calendars for a preview, which has no job that the engine would do it for.
func (s *Service) calendarsFor(ctx context.Context) func(ref string) (*job.Calendar, bool) {
	return func(ref string) (*job.Calendar, bool) {
		tenant, name, _ := strings.Cut(ref, "/")
		c, err := s.engine.Calendar(ctx, tenant, name)
		return &c, err == nil
	}
}

var statusMembers = object[client.StatusRequest]{}

func (s *Service) status(context.Context, string, *client.StatusRequest) (any, error) {
	if s.opts.Surroundings != nil {
		s.opts.Surroundings.Look()
	}
	info := statusInfo(s.engine.Status(), s.opts.Version, s.opts.Cluster)
	addSurroundings(info, s.opts.Inboxes, s.opts.Surroundings)
	return info, nil
}
