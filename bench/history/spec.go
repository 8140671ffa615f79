package history

import (
	"strconv"
	"time"
)

// JobKind is the kind of a job's schedule.
type JobKind string

// The kinds of job.
const (
	// They begin the names of jobs, so that a report shows them.
	oneShot JobKind = "one-shot"
	every   JobKind = "every"  // @every, on a grid that begins when the server takes it
	cron    JobKind = "cron"   // six fields, on the grid of whole seconds
	manual  JobKind = "manual" // has its only tick in a far future; runs when triggered
)

// Spec is the part of a job's definition that the checks use.
type Spec struct {
	Kind    JobKind
	Due     Instant       // when a one-shot is due
	Step    time.Duration // interval of the kinds every and cron
	Target  string        // nats, request, jetstream or http
	Missed  string        // missed_run_policy
	Overlap string        // overlap_policy
	// Paused is that of the put; requests for a pause do not change it.
	Paused bool
	// The figures use it for jobs whose every run must arrive at the first attempt.
	Sure bool // with the target http: the sink never refuses it
}

// farAhead is how far ahead the tick of a manual job is.
const farAhead = 365 * 24 * time.Hour

// schedule returns the schedule expression of a spec.
func (s *Spec) schedule() string {
	switch s.Kind {
	case every:
		return "@every " + s.Step.String()
	case cron:
		if s.Step == time.Second {
			return "* * * * * *"
		}
		return "*/" + strconv.Itoa(int(s.Step/time.Second)) + " * * * * *"
	default:
		return "@at " + s.Due.wire()
	}
}

// attemptTimeout is long, because the sink answers at once: an attempt that times out is a fault. It also explains a
// second delivery: after that time the server may launch the run again.
const attemptTimeout = 5 * time.Second

// retries has so many attempts that a run is dead only if the server has a fault.
var retries = retryWire{MaxAttempts: 40, InitialInterval: "50ms", Multiplier: 1.5, MaxInterval: "500ms"}

// wire returns the job in the form of the API. The mark in its payload says in each delivery which put it belongs to.
// The catch-up window is an hour, so that no run is given up because a restart took long.
func (s *Spec) wire(name string, mark int, targets *Targets) jobWire {
	return jobWire{
		Name: name, Schedule: s.schedule(), Target: targets.of(s, mark),
		Payload: &payloadWire{Mark: mark}, AttemptTimeout: attemptTimeout.String(), Retry: &retries,
		OverlapPolicy: s.Overlap, MissedRunPolicy: s.Missed, CatchupWindow: "1h", MaxCatchupRuns: 10,
		Paused: s.Paused,
	}
}

// subjectPrefix is the prefix of all subjects of the sinks.
const subjectPrefix = "crash."

// subjects is the number of subjects, or paths, of each kind of target. Each is a lane of its own in the server, so
// runs of different lanes do not wait for each other.
const subjects = 8

// Targets has the addresses of the sinks.
type Targets struct{ url string }

// surePath is the prefix of the paths that the sink never refuses.
const surePath = "/sure"

// of returns the target of a job. The mark spreads the jobs over the lanes.
func (t *Targets) of(s *Spec, mark int) targetWire {
	lane := strconv.Itoa(mark % subjects)
	switch {
	case s.Target != "http":
		return targetWire{Kind: s.Target, Subject: subjectPrefix + s.Target + "." + lane}
	case s.Sure:
		return targetWire{Kind: s.Target, URL: t.url + surePath + "/" + lane}
	default:
		return targetWire{Kind: s.Target, URL: t.url + "/" + lane}
	}
}
