package api

import (
	"context"
	"time"

	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/job"
)

// nextRequest asks when a schedule would tick.
type nextRequest struct {
	spec  job.Spec
	after job.Millis // 0: now
	count int        // 0: the default
}

var nextMembers = object[nextRequest]{
	"schedule":  text(func(q *nextRequest) *string { return &q.spec.Expr }),
	"timezone":  text(func(q *nextRequest) *string { return &q.spec.Zone }),
	"starts_at": instant(func(q *nextRequest) *job.Millis { return &q.spec.StartsAt }),
	"ends_at":   instant(func(q *nextRequest) *job.Millis { return &q.spec.EndsAt }),
	"after":     instant(func(q *nextRequest) *job.Millis { return &q.after }),
	"count":     between(1, job.PreviewMax, func(q *nextRequest) *int { return &q.count }),
}

func (s *Service) next(_ context.Context, _ string, q *nextRequest) (any, error) {
	schedule, err := job.ParseSchedule(q.spec)
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

var statusMembers = object[client.StatusRequest]{}

func (s *Service) status(context.Context, string, *client.StatusRequest) (any, error) {
	return statusInfo(s.engine.Status(), s.opts.Version), nil
}
