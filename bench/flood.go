package bench

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-io/carillon/client"
)

// floodCmd lets one tenant flood the server with noise, and measures another tenant before and during the flood: its
// registrations, its reads, and the lateness of its jobs. All figures are of one server in one run.
type floodCmd struct {
	Requests    int `help:"Requests of noise." default:"200000"`
	Connections int `help:"Connections over which the noise comes." default:"8"`
	Parallel    int `help:"Requests of noise that wait for a reply at a time, over all connections." default:"10000"`

	For   time.Duration `help:"How long the noise lasts at most; it ends sooner when all of its requests are sent." default:"15s"`
	Quiet time.Duration `help:"How long the other tenant is measured without the flood." default:"5s"`
	Rate  int           `help:"One-shots a second of the other tenant." default:"50"`
}

// Validate refuses sizes that make no sense.
func (c *floodCmd) Validate() error {
	for _, err := range []error{
		within("requests", c.Requests, 1000, 10_000_000), within("connections", c.Connections, 1, 256),
		within("parallel", c.Parallel, c.Connections, 1_000_000), within("rate", c.Rate, 1, 1000),
	} {
		if err != nil {
			return err
		}
	}
	for flag, d := range map[string]time.Duration{"quiet": c.Quiet, "for": c.For} {
		if d < time.Second || d > windowMax {
			return fmt.Errorf("--%s is %s; want 1s to %s", flag, d, windowMax)
		}
	}
	return nil
}

// noisyTenant floods; the other tenant is that of the herd.
const noisyTenant = "noisy"

// floodMost is how long a flood may take longer than it should, until its last replies are there.
const floodMost = 15 * time.Second

func (c *floodCmd) measure(s *stand) []*result {
	r := &result{Name: "flood", Setting: fmt.Sprintf("%d requests of noise over %d connections, %d in parallel, beside another tenant with %d one-shots a second",
		c.Requests, c.Connections, c.Parallel, c.Rate)}
	if err := c.run(s, r); err != nil {
		r.breaks("%v", err)
	}
	return []*result{s.show(r)}
}

func (c *floodCmd) run(s *stand, r *result) error {
	srv, cl, err := s.start("flood")
	if err != nil {
		return err
	}
	defer srv.clear()
	defer cl.Close()
	recv, err := s.startReceiver(srv.ready.NATS, fireSubject+".*")
	if err != nil {
		return err
	}
	from, err := c.register(s, srv)
	if err != nil {
		return err
	}
	nc, err := nats.Connect(srv.ready.NATS, nats.Name("bench"))
	if err != nil {
		return err
	}
	defer nc.Close()
	b := &bystander{nc: nc}
	s.wait(time.Until(from))
	s.say("flood: the other tenant alone for %s", c.Quiet)
	calm := make(chan struct{})
	time.AfterFunc(c.Quiet, func() { close(calm) })
	quiet, err := b.act(s.ctx, "quiet", calm)
	if err != nil {
		return err
	}
	before, _ := srv.memory()
	flood, err := c.flood(s, srv, b, r)
	if err != nil {
		return err
	}
	after, _ := srv.memory()
	receipts, err := recv.collect()
	if err != nil {
		return err
	}
	c.tell(r, quiet, flood, receipts)
	r.count("refused", "refusals of the other tenant", b.refused)
	if b.refused > 0 {
		r.breaks("the other tenant was refused %d times, the last time with %s", b.refused, b.why)
	}
	r.add("memory_before_mib", "memory before the flood", before/(1<<20), "MiB")
	r.add("memory_most_mib", "most memory in the flood", max(b.memory, after)/(1<<20), "MiB")
	return srv.stop()
}

// register puts the one-shots of the other tenant, and returns when they begin to be due.
func (c *floodCmd) register(s *stand, srv *server) (time.Time, error) {
	other, err := client.Connect(srv.ready.NATS, client.Options{Tenant: otherTenant})
	if err != nil {
		return time.Time{}, err
	}
	defer other.Close()
	shots := int((c.Quiet + c.For + floodMost).Seconds() * float64(c.Rate))
	from := time.Now().Add(headStart(shots)).Truncate(time.Millisecond)
	err = putJobs(s.ctx, other, func(yield func(client.Job) bool) {
		for i := range shots {
			due := from.Add(time.Duration(i) * time.Second / time.Duration(c.Rate))
			j := fireJob(fmt.Sprintf("beside-%d", i), "@at "+client.At(due).String(), payload)
			j.Target = client.Target{Kind: "nats", Subject: fireSubject + ".0"}
			if !yield(j) {
				return
			}
		}
	})
	return from, err
}

// flood measures the other tenant until the noise has ended.
func (c *floodCmd) flood(s *stand, srv *server, b *bystander, r *result) (*phase, error) {
	s.say("flood: %d requests of noise", c.Requests)
	noise, err := s.startNoise(srv.ready.NATS, c)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(s.ctx, c.For+floodMost)
	defer cancel()
	b.watch = srv
	m := startMeter(srv.cmd.Process.Pid, noise.cmd.Process.Pid)
	p, err := b.act(ctx, "flood", noise.ended)
	m.stop()
	if ctx.Err() != nil && s.ctx.Err() == nil {
		err = errors.Join(err, fmt.Errorf("the noise did not end within %s", c.For+floodMost))
	}
	text, failed := noise.collect()
	if err = errors.Join(err, failed); err != nil {
		return nil, err
	}
	var sent, answered, limited int
	if _, err := fmt.Sscan(text, &sent, &answered, &limited); err != nil {
		return nil, fmt.Errorf("the noise said %q", text)
	}
	r.count("noise_sent", "requests of noise", sent)
	r.count("noise_answered", "requests of noise with a reply", answered)
	r.count("noise_limited", "of them refused as too many", limited)
	r.add("noise_s", "time of the flood", p.to.Sub(p.from).Seconds(), "s")
	m.tell(r)
	return p, nil
}

// phase is what the other tenant did in a time.
type phase struct {
	from, to  time.Time
	puts, got samples
}

// late returns the lateness of the jobs that were due in the phase.
func (p *phase) late(receipts []receipt) (late samples) {
	for _, one := range receipts {
		if strings.HasPrefix(one.job, "beside-") && !one.scheduled.Before(p.from) && one.scheduled.Before(p.to) {
			late = append(late, one.arrived.Sub(one.scheduled))
		}
	}
	return late
}

// bystander is the other tenant: it registers a job and reads it again, one request after the other.
type bystander struct {
	nc     *nats.Conn
	watch  *server // whose memory is measured; nil: none
	memory float64 // the most that it had, in bytes

	refused int    // requests that were not carried out
	why     string // the last refusal
}

// act goes on until over is closed.
func (b *bystander) act(ctx context.Context, name string, over <-chan struct{}) (*phase, error) {
	p := &phase{from: time.Now()}
	looked := p.from
	for i := 0; ctx.Err() == nil && !isClosed(over); i++ {
		j := farJob(fmt.Sprintf("%s-%d", name, i), i)
		body := fmt.Sprintf(`{"name":%q,"schedule":%q,"target":{"kind":"nats","subject":%q},"payload":%s}`, j.Name, j.Schedule, j.Target.Subject, j.Payload)
		if err := b.ask(&p.puts, "jobs.put", body); err != nil {
			return nil, err
		}
		if err := b.ask(&p.got, "jobs.get", fmt.Sprintf(`{"name":%q}`, j.Name)); err != nil {
			return nil, err
		}
		if b.watch != nil && time.Since(looked) > 50*time.Millisecond {
			looked = time.Now()
			resident, _ := b.watch.memory()
			b.memory = max(b.memory, resident)
		}
	}
	p.to = time.Now()
	return p, nil
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// ask makes a request, and notes how long it took, or that it was refused.
func (b *bystander) ask(took *samples, verb, body string) error {
	began := time.Now()
	m, err := b.nc.Request("carillon.v1."+otherTenant+"."+verb, []byte(body), putTimeout)
	if err != nil {
		return fmt.Errorf("%s of the other tenant: %w", verb, err)
	}
	if refusal := m.Header.Get("Nats-Service-Error"); refusal != "" {
		b.refused++
		b.why = verb + ": " + refusal
		return nil
	}
	*took = append(*took, time.Since(began))
	return nil
}

// tell adds the figures of both phases, and how many times longer the flood made each.
func (c *floodCmd) tell(r *result, quiet, flood *phase, receipts []receipt) {
	for _, one := range []struct {
		key, label   string
		quiet, flood samples
	}{
		{"put", "put", quiet.puts, flood.puts}, {"get", "get", quiet.got, flood.got},
		{"lateness", "lateness", quiet.late(receipts), flood.late(receipts)},
	} {
		slices.Sort(one.quiet)
		slices.Sort(one.flood)
		r.count(one.key+"_samples", "samples of "+one.label+" in the flood", len(one.flood))
		for _, rank := range []struct {
			key string
			at  int
		}{{"p50", 50_000}, {"p99", 99_000}, {"max", 100_000}} {
			was, is := one.quiet.at(rank.at), one.flood.at(rank.at)
			r.add(one.key+"_quiet_"+rank.key+"_ms", one.label+" "+rank.key+", quiet", millis(was), "ms")
			r.add(one.key+"_flood_"+rank.key+"_ms", one.label+" "+rank.key+", in the flood", millis(is), "ms")
			if was > 0 {
				r.add(one.key+"_ratio_"+rank.key, "that is", float64(is)/float64(was), "times")
			}
		}
	}
}
