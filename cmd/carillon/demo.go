package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/carillon-io/carillon/server"
)

// demoCmd starts a server, registers jobs and shows each run with its lateness. It binds free ports on loopback, so
// it disturbs no server that runs already.
type demoCmd struct {
	For  span   `help:"How long it runs." default:"15s"`
	Data string `help:"Keep the data in this directory. Default: a temporary one." placeholder:"DIR" type:"path"`
}

// Help is what `carillon demo --help` says besides the flags.
func (*demoCmd) Help() string {
	return `Starts a server of its own on free ports, registers a few jobs over NATS, receives their runs over NATS and HTTP, and shows the lateness of each: the time from its scheduled instant until the receiver had it.

Examples:

  carillon demo
  carillon demo --for 1m`
}

// demoForMin is the shortest demo: each job must have time to fire.
const demoForMin = 3 * time.Second

// Run implements the command.
func (c *demoCmd) Run(ctx context.Context, con *console) (err error) {
	if time.Duration(c.For) < demoForMin {
		return usagef("--for %s is too short to see anything; want at least %s", time.Duration(c.For), demoForMin)
	}
	show := newDemoShow(con)
	stage, err := openDemoStage(ctx, con, c.Data)
	if err != nil {
		return err
	}
	// A failed demo leaves no server and no directory behind either.
	defer func() { err = errors.Join(err, stage.close()) }()
	show.opening(stage.server.Ready(), stage.dir, stage.temporary)
	jobs := demoJobs(time.Now(), time.Duration(c.For), stage.hall.url)
	if err := stage.register(ctx, jobs); err != nil {
		return err
	}
	show.jobs(jobs, time.Duration(c.For))
	stage.watch(ctx, time.Duration(c.For), show)
	show.summary(jobs)
	show.nextSteps()
	return show.verdict(ctx)
}

// demoStage holds what a demo has started: its server, connection and receivers. It is the real server with the real
// client over loopback; nothing in the demo is simulated.
type demoStage struct {
	dir string
	// temporary says that dir was made here, and is removed at the end.
	temporary bool
	server    *server.Server
	remote    *remote
	// hall is nil until its receivers are there.
	hall *demoHall
}

// openDemoStage starts a server on free ports and connects the receivers to it. Dir is its data directory; "" makes a
// temporary one.
func openDemoStage(ctx context.Context, con *console, dir string) (_ *demoStage, err error) {
	s := &demoStage{dir: dir}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.close())
		}
	}()
	if dir == "" {
		if s.dir, err = os.MkdirTemp("", "carillon-demo-"); err != nil {
			return nil, err
		}
		s.temporary = true
	} else if err := checkDataDir(dir); err != nil {
		return nil, err
	}
	logger := newLogger(con.err, "text", "error")
	// As for serve, or the demo would show the lateness of a server without its settings.
	tuneRuntime(ctx, logger)
	s.server, err = server.Start(ctx, server.Options{
		Dir: s.dir, Listen: "127.0.0.1:0", HTTPListen: "127.0.0.1:0", AllowPrivateTargets: true,
		Logger: logger, Version: buildVersion().Version,
	})
	if err != nil {
		return nil, err
	}
	flags := serverFlags{endpointFlags: endpointFlags{Server: s.server.Ready().NATS, Timeout: span(10 * time.Second)}}
	if s.remote, err = flags.connectAs(ctx, whoAsks()); err != nil {
		return nil, err
	}
	s.hall, err = openDemoHall(s.remote.nc)
	return s, err
}

// register puts the jobs over NATS, as a client does.
func (s *demoStage) register(ctx context.Context, jobs []demoJob) error {
	for _, j := range jobs {
		if _, _, err := s.remote.Put(ctx, j.job); err != nil {
			return fmt.Errorf("register %s: %w", j.job.Name, err)
		}
	}
	return nil
}

// watch shows the runs as they are received, until the span is over or ctx ends. Firings that are still queued at
// its end are not shown and not counted.
func (s *demoStage) watch(ctx context.Context, span time.Duration, show *demoShow) {
	end := time.NewTimer(span)
	defer end.Stop()
	for {
		select {
		case f := <-s.hall.firings:
			show.firing(f)
		case <-end.C:
			return
		case <-ctx.Done():
			return
		}
	}
}

// close stops everything that the demo started and removes its temporary directory. It works for a stage that was only
// half opened. The server goes first, so that no run arrives at a receiver that is closed.
func (s *demoStage) close() error {
	var errs []error
	if s.server != nil {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		errs = append(errs, s.server.Close(ctx))
	}
	if s.hall != nil {
		s.hall.close()
	}
	if s.remote != nil {
		s.remote.close()
	}
	if s.temporary {
		errs = append(errs, os.RemoveAll(s.dir))
	}
	return errors.Join(errs...)
}
