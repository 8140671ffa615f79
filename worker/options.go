package worker

import (
	"errors"
	"fmt"
	"log/slog"
	"os/exec"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-io/carillon/client"
)

// Options are the settings of a [Worker]. Conn, Client, Name, Allow and State must be set.
type Options struct {
	// Conn receives the runs, and Client confirms and reports them; both are of the tenant. The caller closes them after
	// the worker has ended.
	Conn   *nats.Conn
	Client *client.Client
	// Tenant is that of the client; "" is default.
	Tenant string
	// Name is the token of the subjects that this worker serves: cron.NAME.>. It stands for one machine. Workers with the
	// same name share its runs; those on one machine must share the state directory, and then never run a job twice.
	Name string
	// Allow is the path of the file that says what may run.
	Allow string
	// State is the directory of the locks; it is made if it does not exist.
	State string

	// Parallel is how many commands run at a time; 0 means 256. More of them wait.
	Parallel int
	// Waiting is how many accepted runs wait for a command to end; 0 means 1000. Further ones are refused.
	Waiting int
	// Heartbeat is how often a run is extended, and so the time after which a cancellation is noticed; 0 means 10s. A run
	// counts as lost for the server after six missed ones.
	Heartbeat time.Duration
	// Grace is the time between SIGTERM and SIGKILL for a command that is to end; 0 means 10s.
	Grace time.Duration

	// Sink is a process that was not started yet and calls [RunSink]. It lets commands print after the death of the worker;
	// with nil they get SIGPIPE then.
	Sink *exec.Cmd

	// Logger receives a line for each start and end; nil discards them.
	Logger *slog.Logger
}

// OptionError says that an option, or the file that one names, is wrong. Nothing was done, and the same options would fail
// again.
type OptionError struct{ err error }

// Error implements error.
func (e *OptionError) Error() string { return e.err.Error() }

// Unwrap returns the cause.
func (e *OptionError) Unwrap() error { return e.err }

// Bounds of the options.
const (
	ParallelMax  = 1000
	WaitingMax   = 100_000
	HeartbeatMin = 50 * time.Millisecond
	HeartbeatMax = time.Hour
	GraceMax     = 10 * time.Minute

	// leaseBeats is how many heartbeats the server waits for before it takes the turn away.
	leaseBeats = 6
)

// withDefaults returns the options with their defaults.
func (o Options) withDefaults() Options {
	setDefault(&o.Tenant, "default")
	setDefault(&o.Parallel, 256)
	setDefault(&o.Waiting, 1000)
	setDefault(&o.Heartbeat, 10*time.Second)
	setDefault(&o.Grace, 10*time.Second)
	setDefault(&o.Logger, slog.New(slog.DiscardHandler))
	return o
}

func setDefault[T comparable](v *T, d T) {
	var zero T
	if *v == zero {
		*v = d
	}
}

// lease is how long the server waits for the next heartbeat, counted from each.
func (o *Options) lease() time.Duration { return leaseBeats * o.Heartbeat }

// validate refuses what could not work, and says what would be right.
func (o *Options) validate() error {
	switch {
	case o.Conn == nil || o.Client == nil:
		return errors.New("worker: options: Conn and Client are missing")
	case o.Name == "" || len(o.Name) > 64 || strings.ContainsAny(o.Name, ".*> \t\r\n"):
		return fmt.Errorf("the name of the worker is %q; want one token of a NATS subject, such as web-1", o.Name)
	case o.Allow == "" || o.State == "":
		return errors.New("worker: options: Allow and State are missing")
	case o.Parallel < 1 || o.Parallel > ParallelMax:
		return fmt.Errorf("%d commands at a time; want 1 to %d", o.Parallel, ParallelMax)
	case o.Waiting < 1 || o.Waiting > WaitingMax:
		return fmt.Errorf("%d waiting runs; want 1 to %d", o.Waiting, WaitingMax)
	case o.Heartbeat < HeartbeatMin || o.Heartbeat > HeartbeatMax:
		return fmt.Errorf("a heartbeat each %s; want %s to %s", o.Heartbeat, HeartbeatMin, HeartbeatMax)
	case o.Grace < 0 || o.Grace > GraceMax:
		return fmt.Errorf("a grace of %s; want at most %s", o.Grace, GraceMax)
	}
	return nil
}
