package history

import (
	"strconv"
	"time"
)

// JobKind is how a job of the workload ticks.
type JobKind string

// The kinds of job.
const (
	oneShot JobKind = "one-shot"
	every   JobKind = "every"  // @every, on a grid that begins when the server takes it
	cron    JobKind = "cron"   // six fields, on the grid of whole seconds
	manual  JobKind = "manual" // has its only tick in a far future; runs when triggered
)

// Spec is a definition of a job, as far as the checks care.
type Spec struct {
	Kind    JobKind
	Due     Instant       // of a one-shot
	Step    time.Duration // of every and cron: the distance of two ticks
	Target  string        // nats, request, jetstream or http
	Missed  string        // missed_run_policy
	Overlap string        // overlap_policy
	Paused  bool
}

// farAhead is where the tick of a manual job lies.
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

// attemptTimeout is long: a sink answers at once, so an attempt that times out is a fault.
const attemptTimeout = 5 * time.Second

// retries are so many that a run only dies if something is wrong.
var retries = retryWire{MaxAttempts: 40, InitialInterval: "50ms", Multiplier: 1.5, MaxInterval: "500ms"}

// wire returns the job as the API takes it. The mark tells the sink which put a delivery is of.
func (s *Spec) wire(name string, mark int, targets *Targets) jobWire {
	return jobWire{
		Name: name, Schedule: s.schedule(), Target: targets.of(s.Target, mark),
		Payload: &payloadWire{Mark: mark}, AttemptTimeout: attemptTimeout.String(), Retry: &retries,
		OverlapPolicy: s.Overlap, MissedRunPolicy: s.Missed, CatchupWindow: "1h", MaxCatchupRuns: 10,
		Paused: s.Paused,
	}
}

// subjectPrefix begins every subject of the sinks.
const subjectPrefix = "crash."

// subjects is how many subjects, or paths, each kind of target is spread over.
const subjects = 8

// Targets knows where the sinks listen.
type Targets struct{ url string }

func (t *Targets) of(kind string, mark int) targetWire {
	lane := strconv.Itoa(mark % subjects)
	if kind == "http" {
		return targetWire{Kind: kind, URL: t.url + "/" + lane}
	}
	return targetWire{Kind: kind, Subject: subjectPrefix + kind + "." + lane}
}
