package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"
)

// demoCmd starts a server, registers jobs, shows each run with its lateness, and kills the server in the middle. It binds free ports on loopback, so
// it disturbs no server that runs already.
type demoCmd struct {
	For  span   `help:"How long it runs." default:"15s"`
	Data string `help:"Keep the data in this directory. Default: a temporary one." placeholder:"DIR" type:"path"`
}

// Help is what `carillon demo --help` says besides the flags.
func (*demoCmd) Help() string {
	return `Starts a server of its own on free ports, registers a few jobs over NATS, receives their runs over NATS and HTTP, and shows the lateness of each: the time from its scheduled instant until the receiver had it. In the middle it kills the server (kill -9) and starts it again: the jobs are there, and what was due meanwhile is fired.

Examples:

  carillon demo
  carillon demo --for 1m`
}

// demoForMin is the shortest demo: each job must have time to fire.
const demoForMin = 3 * time.Second

// demoCrash is when the server is killed, in percent of the time.
const demoCrash = 50

// demoDown is how long the server is down, besides its start, if it is killed when planned. The job of demoDue is due at the
// end of that.
const demoDown = time.Second

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
	show.opening(stage.server.ready, stage.dir, stage.temporary)
	begun := time.Now()
	stage.due = begun.Add(time.Duration(c.For)*demoCrash/100 + demoDown)
	jobs := append(demoJobs(begun, time.Duration(c.For), stage.hall.url), demoJobDue(stage.due, stage.hall.url))
	if err := stage.register(ctx, jobs); err != nil {
		return err
	}
	show.jobs(jobs, time.Duration(c.For))
	if err := stage.watch(ctx, con, time.Duration(c.For), show); err != nil {
		return err
	}
	show.summary(jobs)
	show.nextSteps()
	return show.verdict(ctx, jobs)
}

// demoStage holds what a demo has started: its server, connection and receivers. It is the real server with the real
// client over loopback; nothing in the demo is simulated.
type demoStage struct {
	dir string
	// temporary says that dir was made here, and is removed at the end.
	temporary bool
	server    *demoServer
	remote    *remote
	// hall is nil until its receivers are there.
	hall *demoHall
	// due is when the job of demoDue is due. The server is killed before it, and is not started again before it has passed.
	due time.Time
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
	if s.server, err = startDemoServer(ctx, con, s.dir, "127.0.0.1:0", "127.0.0.1:0"); err != nil {
		return nil, err
	}
	flags := serverFlags{endpointFlags: endpointFlags{Server: s.server.ready.NATS, Timeout: span(10 * time.Second)}}
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

// watch shows the runs as they are received, until the span is over or ctx ends, and kills the server in between. What was
// due while it was down is awaited a little longer.
func (s *demoStage) watch(ctx context.Context, con *console, span time.Duration, show *demoShow) error {
	crash, end := time.NewTimer(span*demoCrash/100), time.NewTimer(span)
	defer crash.Stop()
	defer end.Stop()
	isOver := false
	for !isOver || show.missing() {
		select {
		case f := <-s.hall.firings:
			show.firing(f)
		case <-crash.C:
			if err := s.crash(ctx, con, show); err != nil {
				return err
			}
		case <-end.C:
			if isOver {
				return nil
			}
			isOver = true
			end.Reset(demoPatience)
		case <-ctx.Done():
			return nil
		}
	}
	return nil
}

// crash kills the server while the job of demoDue is not due, and starts it again once that is, on the same addresses, so
// that the client and the receivers find it.
func (s *demoStage) crash(ctx context.Context, con *console, show *demoShow) (err error) {
	s.due, err = demoAhead(s.due, func(due time.Time) error {
		return s.register(ctx, []demoJob{demoJobDue(due, s.hall.url)})
	})
	if err != nil {
		return err
	}
	before := s.server.ready
	s.server.kill()
	s.server = nil
	killed := time.Now()
	show.killed(killed)
	if !killed.Before(s.due) {
		return fmt.Errorf("the server was killed %s after the job %s was due: this machine is too busy for the demo", killed.Sub(s.due), demoDue)
	}
	select {
	case <-time.After(time.Until(s.due)):
	case <-ctx.Done():
		return nil
	}
	begun := time.Now()
	s.server, err = startDemoServer(ctx, con, s.dir, hostOfURL(before.NATS), hostOfURL(before.HTTP))
	if err != nil {
		return err
	}
	show.back(time.Now(), time.Since(begun), s.server.ready.Jobs)
	return nil
}

// demoAhead returns an instant that is at least half of demoDown ahead, for which the job of demoDue is registered. That is
// the planned one, unless a busy machine comes to the kill too late for it: then put registers the job again, with more time
// ahead whenever that takes too long as well.
func demoAhead(due time.Time, put func(due time.Time) error) (time.Time, error) {
	for lead := demoDown; time.Until(due) < demoDown/2; lead *= 2 {
		due = time.Now().Add(lead)
		if err := put(due); err != nil {
			return due, err
		}
	}
	return due, nil
}

// hostOfURL returns host and port of a URL of a server.
func hostOfURL(url string) string {
	_, host, _ := strings.Cut(url, "://")
	return host
}

// close stops everything that the demo started and removes its temporary directory. It works for a stage that was only
// half opened. The server goes first, so that no run arrives at a receiver that is closed.
func (s *demoStage) close() error {
	var errs []error
	if s.server != nil {
		s.server.stop()
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
