package bench

import (
	"errors"
	"fmt"
	"time"

	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/job"
)

// outageCmd keeps a server down while many jobs are due, and measures other jobs while the server
// catches up.
type outageCmd struct {
	Count  int           `help:"Jobs that are due while the server is down." default:"1000000"`
	Away   time.Duration `help:"How long after that it starts again." default:"10s"`
	Rate   int           `help:"One-shots a second that are due from then on; of several shards, that were decided before." default:"500"`
	For    time.Duration `help:"For how long." default:"20s"`
	Shards int           `help:"Shards. With several, all nodes of a cluster are down, and what is measured is how fast they catch up together." default:"1"`
	Nodes  int           `help:"Nodes of a cluster with several shards." default:"3"`
}

// overdueSubject is the target of the jobs that are due in the outage. It has no subscriber, because so
// many messages would delay the receiver of the measured ones.
const overdueSubject = "bench.overdue"

// Validate refuses sizes that make no sense.
func (c *outageCmd) Validate() error {
	if c.Away < 2*time.Second || c.Away > windowMax {
		return fmt.Errorf("--away is %s; want 2s to %s", c.Away, windowMax)
	}
	err := errors.Join(within("count", c.Count, 1, armedMax), within("nodes", c.Nodes, 2, outsideNodesMax), job.ValidateShards(c.Shards))
	if err != nil {
		return err
	}
	return c.fires().Validate()
}

// fires returns the load that is measured while the server catches up.
func (c *outageCmd) fires() *jitterCmd {
	return &jitterCmd{Rate: c.Rate, For: c.For, Payload: len(payload), group: "now-"}
}

func (c *outageCmd) measure(s *stand) []*result {
	if c.Shards > 1 {
		return []*result{s.show(c.measureShards(s))}
	}
	r := &result{Name: "outage"}
	r.Setting = fmt.Sprintf("%d one-shots are due while the server is down (SIGKILL); it starts %s later, and %d one-shots a second are due from then on, for %s", c.Count, c.Away, c.Rate, c.For)
	if err := c.run(s, r); err != nil {
		r.breaks("%v", err)
	}
	return []*result{s.show(r)}
}

// The jobs of the window are registered after the restart, so that they are not overdue themselves.
func (c *outageCmd) run(s *stand, r *result) error {
	if err := s.demand(c.Count); err != nil {
		return err
	}
	dir, due, err := c.miss(s)
	if err != nil {
		return err
	}
	s.say("outage: killed; the jobs are due at %s", due.Format(time.TimeOnly))
	s.wait(time.Until(due.Add(c.Away)))
	srv, err := startServer(s.binary, dir)
	if err != nil {
		return err
	}
	defer srv.clear()
	r.add("ready_s", "from the start to the ready line", srv.readyIn.Seconds(), "s")
	cl, err := connect(srv)
	if err != nil {
		return err
	}
	defer cl.Close()
	return c.catchUp(s, srv, cl, r)
}

// miss registers the jobs and kills the server before they are due. The kill comes before the due time, so that all of
// the jobs are missed.
func (c *outageCmd) miss(s *stand) (dir string, due time.Time, err error) {
	srv, cl, err := s.start("outage")
	if err != nil {
		return "", due, err
	}
	defer cl.Close()
	// The kill comes on every way out, as the server is of no further use.
	defer srv.kill()
	due = time.Now().Add(headStart(c.Count)).Truncate(time.Second)
	at := "@at " + client.At(due).String()
	err = putJobs(s.ctx, cl, func(yield func(client.Job) bool) {
		for i := range c.Count {
			j := fireJob(fmt.Sprintf("overdue-%d", i), at, payload)
			j.Target.Subject = overdueSubject
			if !yield(j) {
				return
			}
		}
	})
	// Jobs that were due before the kill would have fired in time.
	if err == nil && time.Until(due) < time.Second {
		err = fmt.Errorf("registering took longer than its head start; the machine is too slow for this size")
	}
	return srv.dir, due, err
}

// catchUp measures jobs that are due now, while the server fires missed runs. The question is whether jobs that are
// due now are late because of those that are overdue.
func (c *outageCmd) catchUp(s *stand, srv *server, cl *client.Client, r *result) error {
	began := time.Now()
	before, err := statusOf(s, cl)
	if err != nil {
		return err
	}
	tally, err := c.fires().fire(s, srv, cl, r)
	if err != nil {
		return err
	}
	after, err := statusOf(s, cl)
	if err != nil {
		return err
	}
	// The runs of the window were fired on time, and are no part of catching up.
	caught := float64(after.Fired-before.Fired) - float64(len(tally.all))
	r.count("jobs_before", "jobs with missed runs, at the first look", before.CatchUp.Jobs)
	r.count("jobs_after", "at the end of the window", after.CatchUp.Jobs)
	r.add("rate", "runs a second that may be spent on them", after.CatchUp.Rate, "/s")
	r.add("caught_up_per_s", "that were", caught/time.Since(began).Seconds(), "/s")
	r.add("left_s", "estimated time to the end, as the server says", time.Duration(after.CatchUp.Left).Seconds(), "s")
	return srv.stop()
}

// statusOf returns the status of a server, also after an interruption.
func statusOf(s *stand, cl *client.Client) (client.Status, error) {
	ctx, cancel := s.asking()
	defer cancel()
	st, err := cl.Status(ctx)
	if err != nil {
		return st, fmt.Errorf("status: %w", err)
	}
	return st, nil
}
