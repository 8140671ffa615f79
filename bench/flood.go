package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-io/carillon/client"
)

// floodCmd lets one tenant flood the server with noise, and measures another tenant before and during the flood: its
// registrations, its reads, and the lateness of its jobs. All figures are of one server in one run. The server has
// rights, and each of the tenants its account on the embedded NATS server.
type floodCmd struct {
	Mix         string `help:"What the noise is: ${enum}; all measures one after the other, each on a server of its own." enum:"random,unknown,large,costly,readers,all" default:"random"`
	Control     bool   `help:"Send the noise to a second server on this machine, so that the other tenant meets the machine's part of the flood alone."`
	Open        bool   `help:"Measure a server without rights, on which the tenants share an account."`
	Requests    int    `help:"Requests of noise." default:"200000"`
	Connections int    `help:"Connections over which the noise comes." default:"8"`
	Parallel    int    `help:"Requests of noise that wait for a reply at a time, over all connections. 0 means 200 for large and costly, else 10,000." default:"0"`
	Readers     int    `help:"Connections of the noise that subscribe and read nothing, with the mix readers." default:"100"`

	NoiseNice int `help:"How much of its processor time the noise leaves to others, as nice does: 19 comes nearest to noise from another machine, which takes none from the server." default:"0"`

	For   time.Duration `help:"How long the noise lasts at most; it ends sooner when all of its requests are sent." default:"15s"`
	Quiet time.Duration `help:"How long the other tenant is measured without the flood." default:"5s"`
	Rate  int           `help:"One-shots a second of the other tenant." default:"50"`
}

// Validate refuses sizes that make no sense.
func (c *floodCmd) Validate() error {
	for _, err := range []error{
		within("requests", c.Requests, 1000, 10_000_000), within("connections", c.Connections, 1, 256),
		within("parallel", c.Parallel, 0, 1_000_000), within("rate", c.Rate, 1, 1000), within("readers", c.Readers, 1, 900),
		within("noise-nice", c.NoiseNice, 0, 19),
	} {
		if err != nil {
			return err
		}
	}
	if c.Parallel > 0 && c.Parallel < c.Connections {
		return fmt.Errorf("--parallel is %d; want 0, or at least one for each of the %d connections", c.Parallel, c.Connections)
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

// floodBound is how many times longer the p99 of the other tenant may become by a flood, and floodMemoryBound how many bytes
// of memory the flood may add.
const (
	floodBound       = 2
	floodMemoryBound = 128 << 20
)

func (c *floodCmd) measure(s *stand) (results []*result) {
	mixes := []string{c.Mix}
	if c.Mix == "all" {
		mixes = []string{"random", "unknown", "large", "costly", "readers"}
	}
	for _, mix := range mixes {
		if s.ctx.Err() != nil {
			break
		}
		results = append(results, c.measureMix(s, mix))
	}
	return results
}

// measureMix measures one kind of noise. The key of the first kind is that of the results before there were others.
func (c *floodCmd) measureMix(s *stand, mix string) *result {
	one := *c
	one.Mix = mix
	few := mix == "large" || mix == "costly"
	if one.Parallel == 0 && few {
		one.Parallel = max(200, c.Connections)
	} else if one.Parallel == 0 {
		one.Parallel = 10_000
	}
	r := &result{Name: "flood_" + mix, Setting: fmt.Sprintf("%d requests of noise (%s) over %d connections, %d in parallel, beside another tenant with %d one-shots a second",
		one.Requests, mix, one.Connections, one.Parallel, one.Rate)}
	if mix == "random" {
		r.Name = "flood"
	}
	if one.Control {
		r.Name += "_control"
		r.Setting += "; the noise goes to a second server"
	}
	if err := one.run(s, r); err != nil {
		r.breaks("%v", err)
	}
	return s.show(r)
}

// start starts a server, with rights unless it is to be open, and returns the tokens of both tenants. The name tells it from
// other servers of the run.
func (c *floodCmd) start(s *stand, name string) (*server, tokens, error) {
	dir := s.dir + "/flood-" + c.Mix + name
	if c.Open {
		srv, err := startServer(s.binary, dir)
		return srv, nil, err
	}
	keys, err := rightsFile(dir+".auth.yaml", []string{otherTenant, noisyTenant}, 0, 0)
	if err != nil {
		return nil, nil, err
	}
	srv, err := startServer(s.binary, dir, "--auth", dir+".auth.yaml")
	return srv, keys, err
}

func (c *floodCmd) run(s *stand, r *result) error {
	srv, keys, err := c.start(s, "")
	if err != nil {
		return err
	}
	defer srv.clear()
	flooded, floodedKeys := srv, keys
	if c.Control {
		if flooded, floodedKeys, err = c.start(s, "-control"); err != nil {
			return err
		}
		defer flooded.clear()
	}
	recv, err := s.startReceiver(keys.of(otherTenant, srv.ready.NATS), fireSubject+".*")
	if err != nil {
		return err
	}
	from, err := c.register(s, keys.of(otherTenant, srv.ready.NATS))
	if err != nil {
		return err
	}
	b, err := newBystander(keys.of(otherTenant, srv.ready.NATS))
	if err != nil {
		return err
	}
	defer b.nc.Close()
	s.wait(time.Until(from))
	s.say("flood: the other tenant alone for %s", c.Quiet)
	calm := make(chan struct{})
	time.AfterFunc(c.Quiet, func() { close(calm) })
	m := startMeter(srv.cmd.Process.Pid)
	quiet, err := b.act(s.ctx, "quiet", calm)
	m.stop()
	if err != nil {
		return err
	}
	r.add("server_cpu_quiet_percent", "server CPU before the flood, of one core", m.percent(m.serverS), "%")
	before, _ := srv.memory()
	most := watchMemory(srv)
	flood, err := c.flood(s, srv, floodedKeys.of(noisyTenant, flooded.ready.NATS), b, r)
	memory := most()
	if err != nil {
		return err
	}
	receipts, err := recv.collect()
	if err != nil {
		return err
	}
	c.tell(r, quiet, flood, receipts)
	b.tell(r)
	tellBroken(srv, r)
	r.add("memory_before_mib", "memory before the flood", before/(1<<20), "MiB")
	r.add("memory_most_mib", "most memory in the flood", memory/(1<<20), "MiB")
	r.add("memory_more_mib", fmt.Sprintf("that is (bound: %d)", floodMemoryBound>>20), (memory-before)/(1<<20), "MiB more")
	return srv.stop()
}

// tellBroken adds how many of its own connections to NATS the server lost: over one of them come the requests of all
// tenants, so each loss takes replies of the other tenant.
func tellBroken(srv *server, r *result) {
	text, _ := os.ReadFile(srv.dir + ".stderr") // it was written by this workload, and is small
	lost := strings.Count(string(text), "lost the connection to NATS")
	r.count("own_lost", "own connections that the server lost", lost)
	if lost > 0 {
		r.breaks("the server lost its own connection to NATS %d times", lost)
	}
}

// watchMemory measures the memory of a server until the result is called, which returns the most of it, in bytes.
func watchMemory(srv *server) func() float64 {
	stop, most := make(chan struct{}), make(chan float64)
	go func() {
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		var high float64
		for {
			resident, _ := srv.memory()
			high = max(high, resident)
			select {
			case <-tick.C:
			case <-stop:
				most <- high
				return
			}
		}
	}()
	return func() float64 {
		close(stop)
		return <-most
	}
}

// register puts the one-shots of the other tenant, and returns when they begin to be due.
func (c *floodCmd) register(s *stand, address string) (time.Time, error) {
	other, err := client.Connect(address, client.Options{Tenant: otherTenant}, nats.Name("bench"))
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
func (c *floodCmd) flood(s *stand, srv *server, address string, b *bystander, r *result) (*phase, error) {
	s.say("flood: %d requests of noise (%s)", c.Requests, c.Mix)
	noise, err := s.startNoise(address, c)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(s.ctx, c.For+floodMost)
	defer cancel()
	m := startMeter(srv.cmd.Process.Pid)
	p, err := b.act(ctx, "flood", noise.ended)
	m.stop()
	used := noise.used()
	m.foreign -= used // it has ended, so the meter no longer finds it
	r.add("noise_cpu_percent", "CPU of the noise, of one core", m.percent(used), "%")
	if ctx.Err() != nil && s.ctx.Err() == nil {
		err = errors.Join(err, fmt.Errorf("the noise did not end within %s", c.For+floodMost))
	}
	text, failed := noise.collect()
	if err = errors.Join(err, failed); err != nil {
		return nil, err
	}
	var sent, answered, limited, losses int
	if _, err := fmt.Sscan(text, &sent, &answered, &limited, &losses); err != nil {
		return nil, fmt.Errorf("the noise said %q", text)
	}
	r.count("noise_sent", "requests of noise", sent)
	r.add("noise_answered_rate", "replies to the noise a second", float64(answered)/p.to.Sub(p.from).Seconds(), "/s")
	r.count("noise_answered", "requests of noise with a reply", answered)
	r.count("noise_limited", "of them refused as too many", limited)
	r.count("noise_losses", "connections that the noise lost", losses)
	r.add("noise_s", "time of the flood", p.to.Sub(p.from).Seconds(), "s")
	m.tell(r)
	return p, nil
}

// tell adds the figures of both phases, and how many times longer the flood made each.
func (c *floodCmd) tell(r *result, quiet, flood *phase, receipts []receipt) {
	for _, one := range []struct {
		key, label   string
		quiet, flood samples
	}{
		{"put", "put", quiet.puts, flood.puts}, {"get", "get", quiet.got, flood.got},
		{"lateness", "lateness", quiet.late(receipts), flood.late(receipts)},
		{"floor", "delay of a thread that only sleeps", quiet.floor, flood.floor},
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
			label := "that is"
			if rank.key == "p99" && one.key != "floor" {
				label = fmt.Sprintf("that is (bound: %d)", floodBound)
			}
			if was > 0 {
				r.add(one.key+"_ratio_"+rank.key, label, float64(is)/float64(was), "times")
			}
		}
	}
}
