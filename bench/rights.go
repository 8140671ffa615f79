package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
)

// rightsCmd measures what rights cost: registrations at an open server and at one with a large file of rights, in turns,
// over NATS and over HTTP.
type rightsCmd struct {
	Rounds     int `help:"Rounds; in each both servers are asked, in turns which of them first." default:"30"`
	Puts       int `help:"Registrations of a round at each server, one after the other." default:"200"`
	Tenants    int `help:"Tenants in the file of rights." default:"100"`
	Principals int `help:"Principals in the file of rights." default:"10000"`
}

// Validate refuses sizes that make no sense.
func (c *rightsCmd) Validate() error {
	return errors.Join(within("rounds", c.Rounds, 1, 10_000), within("puts", c.Puts, 1, 100_000), within("tenants", c.Tenants, 1, 1000), within("principals", c.Principals, 1, 100_000))
}

// rightsBound is how many percent longer a registration may take, and how much more of a processor it may need.
const rightsBound = 5

func (c *rightsCmd) measure(s *stand) []*result {
	r := &result{Name: "rights", Setting: fmt.Sprintf("%d rounds of %d registrations at each of two servers, one open, one with %d tenants and %d principals", c.Rounds, c.Puts, c.Tenants, c.Principals)}
	if err := c.run(s, r); err != nil {
		r.breaks("%v", err)
	}
	return []*result{s.show(r)}
}

func (c *rightsCmd) run(s *stand, r *result) error {
	path := s.dir + "/rights.auth.yaml"
	keys, err := rightsFile(path, []string{otherTenant}, c.Tenants-1, c.Principals-1)
	if err != nil {
		return err
	}
	open, err := startServer(s.binary, s.dir+"/open")
	if err != nil {
		return err
	}
	defer open.clear()
	guarded, err := startServer(s.binary, s.dir+"/guarded", "--auth", path)
	if err != nil {
		return err
	}
	defer guarded.clear()
	for _, way := range []string{"nats", "http"} {
		sides := [2]*rightsSide{{name: "open", server: open}, {name: "rights", server: guarded, token: keys[otherTenant]}}
		for _, side := range sides {
			if err := side.connect(way); err != nil {
				return err
			}
			defer side.close()
		}
		if err := c.compare(s, r, way, sides); err != nil {
			return err
		}
	}
	return errors.Join(open.stop(), guarded.stop())
}

// compare asks both servers in turns, and adds the medians of both, and of their ratios round by round.
func (c *rightsCmd) compare(s *stand, r *result, way string, sides [2]*rightsSide) error {
	s.say("rights: %d rounds over %s", c.Rounds, way)
	for round := range c.Rounds + 1 {
		for turn := range sides {
			if err := sides[(round+turn)%2].round(s.ctx, round, c.Puts); err != nil {
				return err
			}
		}
	}
	for _, side := range sides { // the first round is to warm up
		side.p50, side.cpu = side.p50[1:], side.cpu[1:]
		r.add(way+"_"+side.name+"_put_p50_ms", way+", "+side.name+": put p50", median(side.p50), "ms")
		r.add(way+"_"+side.name+"_cpu_us", way+", "+side.name+": server CPU a put", median(side.cpu), "µs")
	}
	for _, one := range []struct {
		key, label string
		of         func(*rightsSide) []float64
	}{
		{"put_p50", "put p50", func(side *rightsSide) []float64 { return side.p50 }},
		{"cpu", "server CPU", func(side *rightsSide) []float64 { return side.cpu }},
	} {
		var ratios []float64
		for i, was := range one.of(sides[0]) {
			if was > 0 {
				ratios = append(ratios, one.of(sides[1])[i]/was)
			}
		}
		r.add(way+"_"+one.key+"_more_percent", fmt.Sprintf("%s: %s, with rights (bound: %d)", way, one.label, rightsBound), 100*(median(ratios)-1), "% more")
	}
	return nil
}

// median returns the median; 0 of nothing.
func median(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	middle := len(sorted) / 2
	return (sorted[middle] + sorted[(len(sorted)-1)/2]) / 2
}

// rightsSide is one of two servers that are compared, and its client.
type rightsSide struct {
	name, token string // no token: the server is open
	server      *server
	register    func(body []byte) error
	close       func()

	p50, cpu []float64 // of each round: milliseconds, and microseconds a registration
}

// connect connects the client of a server, over NATS or HTTP.
func (p *rightsSide) connect(way string) error {
	if way == "http" {
		h := &http.Client{Timeout: putTimeout}
		p.register, p.close = func(body []byte) error { return p.post(h, body) }, h.CloseIdleConnections
		return nil
	}
	var options []nats.Option
	if p.token != "" {
		options = append(options, nats.Token(p.token))
	}
	nc, err := nats.Connect(p.server.ready.NATS, append(options, nats.Name("bench"))...)
	if err != nil {
		return err
	}
	p.close = nc.Close
	p.register = func(body []byte) error {
		reply, err := nc.Request("carillon.v1."+otherTenant+".jobs.put", body, putTimeout)
		if err == nil && reply.Header.Get("Nats-Service-Error") != "" {
			err = fmt.Errorf("was answered with %s", reply.Data)
		}
		return err
	}
	return nil
}

// post registers a job over HTTP.
func (p *rightsSide) post(h *http.Client, body []byte) error {
	name, _, _ := strings.Cut(strings.TrimPrefix(string(body), `{"name":"`), `"`)
	q, err := http.NewRequest(http.MethodPut, p.server.ready.HTTP+"/api/v1/jobs/"+name, bytes.NewReader(body))
	if err != nil {
		return err
	}
	q.Header.Set("Content-Type", "application/json")
	q.Header.Set("Carillon-Tenant", otherTenant)
	if p.token != "" {
		q.Header.Set("Authorization", "Bearer "+p.token)
	}
	reply, err := h.Do(q)
	if err != nil {
		return err
	}
	defer reply.Body.Close()
	text, err := io.ReadAll(reply.Body)
	if err == nil && reply.StatusCode/100 != 2 {
		err = fmt.Errorf("was answered with %s: %s", reply.Status, text)
	}
	return err
}

// round registers jobs one after the other. The jobs of a round have the names of the round before it, so that the server
// does not grow.
func (p *rightsSide) round(ctx context.Context, round, puts int) error {
	var took samples
	before := exactCPU(p.server.cmd.Process.Pid)
	for i := range puts {
		j := farJob(fmt.Sprintf("rights-%d", i), round)
		body := fmt.Appendf(nil, `{"name":%q,"schedule":%q,"target":{"kind":"nats","subject":%q},"payload":%s}`, j.Name, j.Schedule, j.Target.Subject, j.Payload)
		began := time.Now()
		if err := p.register(body); err != nil {
			return fmt.Errorf("put at the server %s: %w", p.name, err)
		}
		took = append(took, time.Since(began))
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	slices.Sort(took)
	used := exactCPU(p.server.cmd.Process.Pid) - before
	p.p50 = append(p.p50, millis(took.at(50_000)))
	p.cpu = append(p.cpu, max(0, float64(used.Microseconds()))/float64(puts))
	return nil
}
