package scheduler

import (
	"slices"
	"time"

	"github.com/carillon-io/carillon/job"
)

// flight is an attempt whose target has not answered.
type flight struct {
	d        *job.Delivery
	done     func(job.Outcome)
	launched time.Time
}

// Launch implements Sender: the target answers at once, fails, or hangs, as the script says.
func (s *sim) Launch(d *job.Delivery, done func(job.Outcome)) {
	s.left = append(s.left, d.Run)
	s.note("launch %s at=%s attempt=%d%s%s", d.Name, clock(d.Run.At), d.Attempt, seq(d.Run), late(s.now, d.Run.At))
	if s.now.Before(d.Run.At.Time()) {
		s.t.Errorf("run %s left early, at %s", d.Run, s.now)
	}
	s.given[d.Name] = d
	f := flight{d, done, s.now}
	switch how := s.target[d.Name]; how {
	case "", "ok":
		f.end("", s.now)
	case "hang":
		s.flying[d.Name] = append(s.flying[d.Name], f)
	case "refuse":
		done(job.Outcome{Run: d.Run, Attempt: d.Attempt, LaunchedAt: s.now, Error: "HTTP 404", Refused: true})
	case "bar":
		done(job.Outcome{
			Run: d.Run, Attempt: d.Attempt, LaunchedAt: s.now, Error: "target not allowed: x", Refused: true, Died: job.ReasonTarget,
		})
	case "busy":
		done(job.Outcome{Run: d.Run, Attempt: d.Attempt, LaunchedAt: s.now, Error: "HTTP 429", RetryAfter: 20 * time.Second})
	default:
		f.end(how, s.now)
	}
}

// Cancel implements Sender: a hanging attempt of the run ends.
func (s *sim) Cancel(run job.RunID) {
	for name, flights := range s.flying {
		for i, f := range flights {
			if f.d.Run == run {
				s.flying[name] = slices.Delete(flights, i, i+1)
				s.note("cancel %s at=%s attempt=%d%s", name, clock(run.At), f.d.Attempt, seq(run))
				f.end("cancelled", s.now)
				return
			}
		}
	}
}

func (f flight) end(failure string, now time.Time) {
	// The pad holds its lock while it admits, not while it sends: done may be called right here.
	f.done(job.Outcome{
		Run: f.d.Run, Attempt: f.d.Attempt, LaunchedAt: f.launched, Duration: now.Sub(f.launched), Error: failure,
	})
}

// answer lets the oldest hanging attempt of a job end.
func (s *sim) answer(name, failure string) {
	if len(s.flying[name]) == 0 {
		s.t.Fatalf("no attempt of %s hangs", name)
	}
	f := s.flying[name][0]
	s.flying[name] = s.flying[name][1:]
	f.end(failure, s.now)
	s.settle()
}
