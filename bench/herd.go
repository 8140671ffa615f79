package bench

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/carillon-io/carillon/client"
)

// herdCmd makes many jobs of one tenant due in the same millisecond, while another tenant's jobs fire at a constant
// rate. The herd shows throughput, and the other tenant shows whether a herd delays jobs that have nothing to do with
// it.
type herdCmd struct {
	Jobs  int `help:"Jobs that are due in the same millisecond." default:"10000"`
	Rate  int `help:"One-shots a second of the other tenant." default:"200"`
	Armed int `help:"Jobs besides, armed for a far future." default:"0"`

	// With request, an attempt ends when the receiver has answered, so the places at the targets bound the herd.
	Kind    string `help:"Kind of the targets: ${enum}." enum:"nats,request" default:"nats"`
	Targets int    `help:"Targets that the herd is spread over." default:"1"`
}

// defaultHerd returns the herd of the workload all, which is that of the command without flags.
func defaultHerd() *herdCmd { return &herdCmd{Jobs: 10_000, Rate: 200, Kind: "nats", Targets: 1} }

// Validate refuses sizes that make no sense.
func (c *herdCmd) Validate() error {
	for _, err := range []error{
		within("jobs", c.Jobs, 1, 2_000_000),
		within("rate", c.Rate, 0, 10_000),
		within("armed", c.Armed, 0, armedMax),
		within("targets", c.Targets, 1, 100_000),
	} {
		if err != nil {
			return err
		}
	}
	return nil
}

const (
	// The name of a job says which of the two loads it belongs to, because that is all that a receipt has.
	herdPrefix = "herd-"
	// Its jobs share nothing with the herd but the server and the targets.
	otherTenant = "other"
	// herdAfter is the time from the beginning of the window until the herd is due.
	herdAfter = 2 * time.Second
)

func (c *herdCmd) measure(s *stand) []*result {
	r := &result{Name: "herd", Setting: c.setting()}
	if err := c.run(s, r); err != nil {
		r.breaks("%v", err)
	}
	return []*result{s.show(r)}
}

// setting describes the workload in words.
func (c *herdCmd) setting() string {
	return fmt.Sprintf("%d jobs due in one millisecond at %d targets of kind %s, beside %d one-shots a second of another tenant, %d more armed",
		c.Jobs, c.Targets, c.Kind, c.Rate, c.Armed)
}

// job returns a job of the herd or of the other tenant. Its number selects one of the targets.
func (c *herdCmd) job(name string, number int, due time.Time) client.Job {
	j := fireJob(name, "@at "+client.At(due).String(), payload)
	j.Target = client.Target{Kind: c.Kind, Subject: fmt.Sprintf("%s.%d", fireSubject, number%c.Targets)}
	return j
}

// run measures on an empty server.
func (c *herdCmd) run(s *stand, r *result) error {
	if err := s.demand(c.Armed + c.Jobs); err != nil {
		return err
	}
	srv, cl, err := s.start("herd")
	if err != nil {
		return err
	}
	defer srv.clear()
	defer cl.Close()
	if err := arm(s, cl, c.Armed); err != nil {
		return err
	}
	if err := c.fire(s, srv, cl, r); err != nil {
		return err
	}
	return errors.Join(split(s, cl, r), srv.stop())
}

// fire registers the herd on a server that already has the armed jobs, and waits until it has arrived. The jobs of
// both tenants have the same receiver, so a delay in it meets both.
func (c *herdCmd) fire(s *stand, srv *server, cl *client.Client, r *result) error {
	recv, err := s.startReceiver(srv.ready.NATS, fireSubject+".*")
	if err != nil {
		return err
	}
	// The receiver subscribes before the jobs are put, so that it misses none.
	w, err := c.register(s, srv, cl)
	if err != nil {
		return err
	}
	s.wait(time.Until(w.from))
	m := startMeter(srv.cmd.Process.Pid, recv.cmd.Process.Pid)
	s.watch("herd", w)
	m.stop()
	receipts, err := recv.collect()
	if err != nil {
		return err
	}
	// After an interruption only what was due long enough ago is demanded.
	w.cut(time.Now().Add(-settleWait))
	t := w.judge(receipts)
	t.tellBroken(r)
	c.tell(r, receipts, w.from.Add(herdAfter))
	m.tell(r)
	return nil
}

// register puts the herd, and the other tenant's jobs before and after it.
func (c *herdCmd) register(s *stand, srv *server, cl *client.Client) (*window, error) {
	other, err := client.Connect(srv.ready.NATS, client.Options{Tenant: otherTenant})
	if err != nil {
		return nil, err
	}
	defer other.Close()
	// The window is long enough for a slow machine, which delivers 20,000 runs of the herd per second.
	length := 2*herdAfter + time.Duration(c.Jobs)*time.Second/20_000
	shots := int(float64(c.Rate) * length.Seconds())
	w := newWindow(time.Now().Add(headStart(c.Jobs+shots)), length, 0)
	err = putJobs(s.ctx, cl, func(yield func(client.Job) bool) {
		due := w.from.Add(herdAfter)
		for i := range c.Jobs {
			name := fmt.Sprintf("%s%d-%d", herdPrefix, c.Jobs, i)
			w.due[name] = due
			if !yield(c.job(name, i, due)) {
				return
			}
		}
	})
	if err != nil {
		return nil, err
	}
	err = putJobs(s.ctx, other, func(yield func(client.Job) bool) {
		for i := range shots {
			name := fmt.Sprintf("beside-%d-%d", c.Jobs, i)
			// Scheduled times are whole milliseconds, and the window compares them exactly.
			w.due[name] = w.from.Add(length * time.Duration(i) / time.Duration(shots)).Truncate(time.Millisecond)
			if !yield(c.job(name, i, w.due[name])) {
				return
			}
		}
	})
	if err != nil {
		return nil, err
	}
	return w, w.checkStart()
}

// tell adds the times of the herd, and the lateness of the other tenant before it and during it. The other tenant's
// jobs are counted before the herd and until its last run, because only these can be delayed by it.
func (c *herdCmd) tell(r *result, receipts []receipt, due time.Time) {
	var herd, before, beside samples
	last := due
	for _, one := range receipts {
		if strings.HasPrefix(one.job, herdPrefix) {
			herd = append(herd, one.arrived.Sub(due))
			if one.arrived.After(last) {
				last = one.arrived
			}
		}
	}
	// A second pass, because the end of the herd is known only now.
	for _, one := range receipts {
		late := one.arrived.Sub(one.scheduled)
		switch {
		// The herd has figures of its own.
		case strings.HasPrefix(one.job, herdPrefix):
		case one.scheduled.Before(due):
			before = append(before, late)
		case !one.scheduled.After(last):
			beside = append(beside, late)
		}
	}
	if len(herd) == 0 {
		return
	}
	slices.Sort(herd)
	r.add("first_ms", "first of the herd", millis(herd[0]), "ms")
	r.add("median_ms", "its median", millis(herd.at(50_000)), "ms")
	r.add("last_ms", "its last", millis(last.Sub(due)), "ms")
	r.add("per_second", "throughput", float64(len(herd))/last.Sub(due).Seconds(), "/s")
	r.spread("before", "others, before the herd,", before)
	if len(beside) > 0 {
		r.spread("beside", "others, beside the herd,", beside)
	}
}
