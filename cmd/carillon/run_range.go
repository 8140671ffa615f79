package main

import (
	"context"
	"strings"

	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/schedule"
)

// rangeTicksMax bounds the ticks of a range that are counted: an @every of 10 ms makes 8.6 million a day.
const rangeTicksMax = 100_000

// skippedRanges says how many ticks the skipped ranges of a job stand for. It counts them by the schedule that the job
// has now, which it reads for the first range, and not for runs that are no ranges.
type skippedRanges struct {
	remote   *remote
	job      string
	read     bool
	schedule *schedule.Schedule // nil: it cannot be had
}

// skippedLast returns what show does, about the last run of a job; "" if that is no range.
func (r *remote) skippedLast(ctx context.Context, j *client.JobInfo) string {
	if j.LastRun == nil || j.LastRun.Status != "skipped" {
		return ""
	}
	run, err := r.Run(ctx, j.LastRun.ID)
	if err != nil {
		return ""
	}
	ranges := skippedRanges{remote: r, job: j.Name, read: true, schedule: r.scheduleOf(ctx, j)}
	return ranges.show(ctx, &run)
}

// show returns how many ticks a run stands for and which is the last of them; "" if it is no range. The number is left
// out if the schedule of the job is another one now.
func (s *skippedRanges) show(ctx context.Context, r *client.Run) string {
	if r.Until.IsZero() {
		return ""
	}
	if !s.read {
		s.read = true
		if j, err := s.remote.Get(ctx, s.job); err == nil {
			s.schedule = s.remote.scheduleOf(ctx, &j)
		}
	}
	until := "up to " + showTime(r.Until)
	switch n, whole := countTicks(s.schedule, r); {
	case n == 0:
		return "ticks " + until
	case !whole:
		return "more than " + plural(n, "tick") + " " + until
	default:
		return plural(n, "tick") + " " + until
	}
}

// countTicks returns how many ticks of a schedule are in a range, and whether these are all. It returns 0 if the schedule
// does not tick at both ends of the range: it is not the one by which the range was skipped.
func countTicks(s *schedule.Schedule, r *client.Run) (n int, whole bool) {
	if s == nil {
		return 0, false
	}
	first, last := millisOf(r.ScheduledAt), millisOf(r.Until)
	var search schedule.Search
	walk := s.Walk(first-1, first)
	for n < rangeTicksMax {
		switch tick, ok := walk.Next(&search); {
		case !ok, tick > last, n == 0 && tick != first:
			return 0, false
		case tick == last:
			return n + 1, true
		}
		n++
	}
	return n, false
}

// scheduleOf returns the schedule of a job with the exclusions of its calendars, or nil if this program cannot read it.
func (r *remote) scheduleOf(ctx context.Context, j *client.JobInfo) *schedule.Schedule {
	spec := schedule.Spec{
		Expr: strings.Join(schedulesOf(&j.Job), "\n"), Exclude: strings.Join(j.Exclude, "\n"), Zone: j.Timezone,
		StartsAt: millisOf(j.StartsAt), EndsAt: millisOf(j.EndsAt),
	}
	s, err := schedule.ParseWith(spec, func(name string) ([]string, bool) {
		calendar, err := r.Calendar(ctx, name)
		return calendar.Exclude, err == nil
	})
	if err != nil {
		return nil
	}
	return s
}
