package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-io/carillon/client"
)

// putCmd registers one job per request. The first client shows the time of one durable commit, the many show how
// commits are shared.
type putCmd struct {
	Count   int           `help:"Registrations of the one client." default:"3000"`
	Clients int           `help:"Clients that register at the same time, each with a connection of its own." default:"64"`
	For     time.Duration `help:"How long they do." default:"5s"`
}

// defaultPut returns the registrations of the command without flags.
func defaultPut() *putCmd { return &putCmd{Count: 3000, Clients: 64, For: 5 * time.Second} }

// Validate refuses sizes that make no sense.
func (c *putCmd) Validate() error {
	if err := within("count", c.Count, 1, 1_000_000); err != nil {
		return err
	}
	if err := within("clients", c.Clients, 1, 4096); err != nil {
		return err
	}
	if c.For < 100*time.Millisecond || c.For > windowMax {
		return fmt.Errorf("--for is %s; want 100ms to %s", c.For, windowMax)
	}
	return nil
}

// farAhead is how far ahead jobs are due that must not fire during a measurement. It is longer than any workload.
const farAhead = 24 * time.Hour

// payload is a JSON value of 100 bytes.
var payload = json.RawMessage(`{"pad":"` + strings.Repeat("x", 90) + `"}`)

// farJob returns a one-shot that is due in a day plus n milliseconds.
func farJob(name string, n int) client.Job {
	due := time.Now().Add(farAhead + time.Duration(n)*time.Millisecond)
	return client.Job{
		Name: name, Schedule: "@at " + client.At(due).String(),
		Target: client.Target{Kind: "nats", Subject: quietSubject}, Payload: payload,
	}
}

func (c *putCmd) measure(s *stand) []*result {
	alone := &result{Name: "put_one_client", Setting: fmt.Sprintf("%d registrations, one after the other", c.Count)}
	many := &result{Name: "put_many_clients", Setting: fmt.Sprintf("%d clients for %s, each one after the other", c.Clients, c.For)}
	if err := c.run(s, alone, many); err != nil {
		many.breaks("%v", err)
	}
	return []*result{s.show(alone), s.show(many)}
}

// run measures one client, then many, on the same server, and verifies both at the end.
func (c *putCmd) run(s *stand, alone, many *result) error {
	srv, cl, err := s.start("put")
	if err != nil {
		return err
	}
	defer srv.clear()
	defer cl.Close()
	one := putter{name: "one", register: func(ctx context.Context, j client.Job) error {
		_, _, err := cl.Put(ctx, j)
		return err
	}}
	m := startMeter(srv.cmd.Process.Pid)
	began := time.Now()
	said := began
	for i := 0; i < c.Count && one.put(s.ctx); i++ {
		if time.Since(said) > 2*time.Second {
			said = time.Now()
			s.say("put: %d of %d registrations", i+1, c.Count)
		}
	}
	one.tell(alone, time.Since(began))
	m.stop()
	m.tell(alone)
	if one.err != nil {
		return one.err
	}
	// On the same server, which has the jobs of the first client already.
	acked, err := c.together(s, srv, many)
	if err != nil {
		return err
	}
	return c.verify(s, cl, srv, many, len(one.took)+acked)
}

// putter is one client that registers jobs one after another.
type putter struct {
	name string
	// register returns when the job is acknowledged, with an error otherwise.
	register func(context.Context, client.Job) error
	took     samples // time of each acknowledged registration
	err      error   // why it ended; nil after an interruption
}

// put registers one job, and reports whether to continue. A registration whose outcome is unknown ends the putter,
// since the count of the acknowledged ones is compared with the server's.
func (p *putter) put(ctx context.Context) bool {
	return p.putJob(ctx, farJob(fmt.Sprintf("%s-%d", p.name, len(p.took)), len(p.took)))
}

// putJob is put for a given job.
func (p *putter) putJob(ctx context.Context, j client.Job) bool {
	began := time.Now()
	if err := p.register(ctx, j); err != nil {
		if ctx.Err() == nil {
			p.err = fmt.Errorf("put %s: %w", j.Name, err)
		}
		return false
	}
	p.took = append(p.took, time.Since(began))
	return true
}

// plainly returns a function that registers one-shots with plain NATS requests. Many clients share the cores with the
// server, so each does no more than check that the job was accepted. It checks the end of the reply as text, which is
// the cheapest proof that a job was created.
func plainly(nc *nats.Conn) func(context.Context, client.Job) error {
	return plainlyAt(nc, func(string) string { return "carillon.v1.default.jobs.put" })
}

// plainlyAt is plainly with the subject for the name of a job.
func plainlyAt(nc *nats.Conn, subject func(name string) string) func(context.Context, client.Job) error {
	var body []byte
	return func(_ context.Context, j client.Job) error {
		body = fmt.Appendf(body[:0], `{"name":%q,"schedule":%q,"target":{"kind":"nats","subject":%q},"payload":%s}`,
			j.Name, j.Schedule, j.Target.Subject, j.Payload)
		reply, err := nc.Request(subject(j.Name), body, putTimeout)
		if err != nil {
			return err
		}
		if refusal := reply.Header.Get("Nats-Service-Error"); refusal != "" || !bytes.HasSuffix(reply.Data, []byte(`"created":true}`)) {
			return fmt.Errorf("was answered with %q %s", refusal, reply.Data)
		}
		return nil
	}
}

// It exceeds the server's own bound of a request, so that an answer is waited for rather than given up.
const putTimeout = 30 * time.Second

// tell adds the rate and the times of the registrations, which took the time took in all.
func (p *putter) tell(r *result, took time.Duration) {
	r.count("acknowledged", "acknowledged", len(p.took))
	r.add("per_second", "acknowledged a second", float64(len(p.took))/took.Seconds(), "/s")
	r.spread("request", "request", p.took)
}

// together runs many clients for the time of --for, and returns the number of jobs that they registered. Each client
// waits for its own reply, so the rate is what the server can commit for that many waiting clients.
func (c *putCmd) together(s *stand, srv *server, r *result) (int, error) {
	putters := make([]*putter, c.Clients)
	for i := range putters {
		nc, err := nats.Connect(srv.ready.NATS, nats.Name("bench"))
		if err != nil {
			return 0, err
		}
		defer nc.Close()
		putters[i] = &putter{name: fmt.Sprintf("many-%d", i), register: plainly(nc)}
	}
	s.say("put: %d clients for %s", c.Clients, c.For)
	m := startMeter(srv.cmd.Process.Pid)
	began := time.Now()
	var wg sync.WaitGroup
	for _, p := range putters {
		wg.Go(func() {
			// A put that is under way at the end is completed, because its outcome must be known.
			for time.Since(began) < c.For && s.ctx.Err() == nil && p.put(context.WithoutCancel(s.ctx)) {
			}
		})
	}
	wg.Wait()
	took := time.Since(began)
	m.stop()
	// The registrations of all clients are one distribution.
	all := putter{}
	for _, p := range putters {
		all.took = append(all.took, p.took...)
		if p.err != nil {
			return 0, p.err
		}
	}
	all.tell(r, took)
	m.tell(r)
	m.tellEach(r, "put", len(all.took))
	return len(all.took), nil
}

// verify checks that the server has all acknowledged jobs, also after a SIGKILL and a restart. Each of the
// acknowledged jobs must survive the kill: that is what the time of a registration pays for.
func (c *putCmd) verify(s *stand, cl *client.Client, srv *server, r *result, acked int) error {
	ctx, cancel := s.asking()
	defer cancel()
	st, err := cl.Status(ctx)
	if err != nil {
		return fmt.Errorf("status: %w", err)
	}
	// After an interrupt the last put may have taken effect without an answer.
	if st.Jobs < acked || st.Jobs > acked && s.ctx.Err() == nil {
		r.breaks("%d jobs were acknowledged, the server has %d", acked, st.Jobs)
	}
	// SIGKILL, and not a stop: what was acknowledged must be on the disk without a last checkpoint.
	srv.kill()
	again, err := startServer(s.binary, srv.dir)
	if err != nil {
		return err
	}
	if again.ready.Jobs < acked {
		r.breaks("%d jobs were acknowledged; after a SIGKILL the server has %d", acked, again.ready.Jobs)
	}
	return again.stop()
}
