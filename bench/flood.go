package bench

import (
	"fmt"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-io/carillon/client"
)

// floodCmd lets one tenant flood the server with noise, and measures another tenant with and without the flood, in turns: its
// registrations, its reads, and the lateness of its jobs. All figures are of one server in one run. The server has
// rights, and each of the tenants its account on the embedded NATS server.
type floodCmd struct {
	Mix         string `help:"What the noise is: ${enum}; all measures one after the other, each on a server of its own." enum:"random,unknown,large,costly,readers,all" default:"random"`
	Rounds      int    `help:"Rounds; in each the other tenant is measured without the flood, and then in it." default:"5"`
	Control     bool   `help:"In each round also send the noise to a second server on this machine: what the other tenant loses then is the machine's part of the flood."`
	Open        bool   `help:"Measure a server without rights, on which the tenants share an account."`
	Requests    int    `help:"Requests of noise in a round." default:"200000"`
	Connections int    `help:"Connections over which the noise comes." default:"8"`
	Parallel    int    `help:"Requests of noise that wait for a reply at a time, over all connections. 0 means 200 for large and costly, else 10,000." default:"0"`
	Readers     int    `help:"Connections of the noise that subscribe and read nothing, with the mix readers." default:"100"`

	NoiseNice int `help:"How much of its processor time the noise leaves to others, as nice does: 19 comes nearest to noise from another machine, which takes none from the server." default:"0"`

	For   time.Duration `help:"How long the noise of a round lasts at most; it ends sooner when all of its requests are sent." default:"4s"`
	Quiet time.Duration `help:"How long the other tenant is measured without the flood in a round." default:"4s"`
	Rate  int           `help:"One-shots a second of the other tenant." default:"50"`
}

// Validate refuses sizes that make no sense.
func (c *floodCmd) Validate() error {
	for _, err := range []error{
		within("requests", c.Requests, 1000, 10_000_000), within("connections", c.Connections, 1, 256),
		within("parallel", c.Parallel, 0, 1_000_000), within("rate", c.Rate, 1, 1000), within("readers", c.Readers, 1, 900),
		within("noise-nice", c.NoiseNice, 0, 19), within("rounds", c.Rounds, 1, 100),
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

// floodMost is how long a flood may take longer than it should, until its last replies are there, and floodTail how long it
// mostly takes. floodRest is between a flood and what is measured next.
const (
	floodMost = 15 * time.Second
	floodTail = 3 * time.Second
	floodRest = time.Second
)

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
	r := &result{Name: "flood_" + mix, Setting: fmt.Sprintf("%d rounds of %d requests of noise (%s) over %d connections, %d in parallel, beside another tenant with %d one-shots a second",
		one.Rounds, one.Requests, mix, one.Connections, one.Parallel, one.Rate)}
	if mix == "random" {
		r.Name = "flood"
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

// register puts the one-shots of the other tenant, and returns when they begin to be due.
func (c *floodCmd) register(s *stand, address string) (time.Time, error) {
	other, err := client.Connect(address, client.Options{Tenant: otherTenant}, nats.Name("bench"))
	if err != nil {
		return time.Time{}, err
	}
	defer other.Close()
	shots := int((time.Duration(c.Rounds)*(c.Quiet+2*(c.For+floodTail)) + floodMost).Seconds() * float64(c.Rate))
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
