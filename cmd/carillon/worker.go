package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"

	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/crontab"
	"github.com/carillon-io/carillon/serverurl"
	"github.com/carillon-io/carillon/worker"
)

// workerCmd runs the commands of jobs until a signal ends it. It has the flags of a client, because it is one.
type workerCmd struct {
	Allow string `help:"File that says which commands may run, and as whom (see docs/worker.md)." placeholder:"FILE" type:"path" required:"" env:"CARILLON_WORKER_ALLOW"`
	State string `help:"Directory of the locks that keep a command from running twice; created if it does not exist." default:"./carillon-worker" type:"path" env:"CARILLON_WORKER_STATE"`
	Host  string `help:"Name of this machine in the subjects of runs, cron.NAME.>; the first part of its host name if left out." placeholder:"NAME" env:"CARILLON_WORKER_HOST"`

	Parallel     int  `help:"Commands that run at a time; further ones wait." default:"256" env:"CARILLON_WORKER_PARALLEL"`
	Waiting      int  `help:"Runs that wait for a command to end; further ones are refused." default:"1000" env:"CARILLON_WORKER_WAITING"`
	Heartbeat    span `help:"How often a run is extended, and how soon a cancellation is noticed. After six missed ones the server gives the run up." default:"10s" env:"CARILLON_WORKER_HEARTBEAT"`
	Grace        span `help:"Time between SIGTERM and SIGKILL for a command that is to end." default:"10s" env:"CARILLON_WORKER_GRACE"`
	DrainTimeout span `help:"How long a stop waits for commands before it ends them." default:"1m" env:"CARILLON_WORKER_DRAIN_TIMEOUT"`

	LogFormat string `help:"Format of the log on stderr: ${enum}." enum:"text,json" default:"text" env:"CARILLON_LOG_FORMAT"`
	LogLevel  string `help:"Lowest level that is logged: ${enum}." enum:"debug,info,warn,error" default:"info" env:"CARILLON_LOG_LEVEL"`
	remoteFlags
}

// Help is what `carillon worker --help` says besides the flags.
func (*workerCmd) Help() string {
	return `It takes the place of cron's daemon on a machine: it runs the commands of jobs that 'carillon import --crontab' has made, as their users, and reports exit status and the end of the output. A command runs only if the allow file has it, or a crontab that the file names.

SIGTERM or Ctrl-C: no further runs, and a stop when the commands have ended, or after --drain-timeout. A second signal kills them at once.

Examples:

  carillon worker --allow /etc/carillon/worker.yaml --state /var/lib/carillon-worker
  carillon worker --allow worker.yaml --host web-1 --server tls://carillon.example.com:4222 --token-file token`
}

// Run implements the command.
func (c *workerCmd) Run(con *console) error {
	e, err := c.endpoint()
	if err != nil {
		return err
	}
	if e.nats == nil && e.isOverHTTP() {
		return usagef("a worker receives its runs over NATS, and %s is HTTP; want the NATS URL of the server, as in --server nats://HOST:4222", serverurl.Redact(e.Server))
	}
	if c.Standby {
		return usagef("--standby only reads, and a worker reports; leave it out")
	}
	if err := c.checkZeros(); err != nil {
		return err
	}
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(signals)
	r, err := c.connect(context.Background())
	if err != nil {
		return err
	}
	defer r.close()
	if err := c.checkServer(r); err != nil {
		return err
	}
	con.unblock()
	logger := newLogger(con.err, c.LogFormat, c.LogLevel)
	con.tellDropped(logger)
	w, err := worker.Start(c.options(logger, r, e))
	if wrong, ok := errors.AsType[*worker.OptionError](err); ok {
		return usagef("%w", wrong)
	}
	if err != nil {
		return fmt.Errorf("worker: %w", err)
	}
	<-signals
	return c.stop(w, signals)
}

// sinkCmd is the process of a worker that outlives it.
type sinkCmd struct{}

// Run implements the command.
func (*sinkCmd) Run(*console) error { return worker.RunSink(os.Stdin) }

// sinkProcess returns the process of this program for [sinkCmd]. It needs nothing of the environment, which may have
// passwords.
func sinkProcess() *exec.Cmd {
	program, err := os.Executable()
	return &exec.Cmd{Path: program, Args: []string{os.Args[0], "__sink"}, Env: []string{}, Err: err} // Start returns err
}

// checkZeros refuses zeros, which a worker takes for options that were left out.
func (c *workerCmd) checkZeros() error {
	switch {
	case c.Parallel == 0:
		return usagef("--parallel: is 0, and no command would run; want 1 to %d", worker.ParallelMax)
	case c.Waiting == 0:
		return usagef("--waiting: is 0; want 1 to %d", worker.WaitingMax)
	case c.Heartbeat == 0:
		return usagef("--heartbeat: is 0s; want %s to %s", worker.HeartbeatMin, worker.HeartbeatMax)
	case c.Grace == 0:
		return usagef("--grace: is 0s; want more, and at most %s", worker.GraceMax)
	}
	return nil
}

// checkServer fails at the start, with the server's reason, if no run could be confirmed later.
func (c *workerCmd) checkServer(r *remote) error {
	_, err := r.Extend(context.Background(), "0000000000001-0", 1, time.Second) // no such run
	if err == nil || errors.Is(err, client.CodeNotFound) || errors.Is(err, client.CodeStaleFence) || errors.Is(err, client.CodeInvalidField) {
		return nil
	}
	return fmt.Errorf("a worker must be allowed to extend and report runs: %w", err)
}

func (c *workerCmd) options(logger *slog.Logger, r *remote, e *endpoint) worker.Options {
	name := c.Host
	if name == "" {
		name = hostToken()
	}
	return worker.Options{
		Conn: r.nc, Client: r.Client, Tenant: e.Tenant, Name: name, Allow: c.Allow, State: c.State,
		Parallel: c.Parallel, Waiting: c.Waiting, Heartbeat: time.Duration(c.Heartbeat), Grace: time.Duration(c.Grace),
		Sink: sinkProcess(), Logger: logger.With(slog.String("worker", name)),
	}
}

// stop drains the worker. A second signal ends the commands at once, and then the status is that of a failure.
func (c *workerCmd) stop(w *worker.Worker, signals <-chan os.Signal) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Duration(c.DrainTimeout))
	defer cancel()
	drained := make(chan error, 1)
	go func() { drained <- w.Drain(ctx) }()
	select {
	case err := <-drained:
		return err
	case <-signals:
		w.EndNow()
		return errors.Join(errors.New("a second signal has killed the commands"), <-drained)
	}
}

// hostToken returns the name of this machine in the subjects of its runs.
func hostToken() string {
	name, _ := os.Hostname()
	return crontab.HostToken(name)
}
