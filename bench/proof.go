package bench

import (
	"fmt"
	"time"

	"github.com/carillon-io/carillon/client"
)

// proofCmd measures a server with very many jobs: it loads them once and then runs the other workloads
// on this server, one after another.
type proofCmd struct {
	Armed int           `help:"Jobs armed for a far future." default:"10000000"`
	For   time.Duration `help:"Length of each window." default:"20s"`
}

// proofSmall is the number of jobs of the server with which the large one is compared. So the comparison shows the
// cost of the armed jobs alone.
const proofSmall = 10_000

// Validate refuses sizes that make no sense.
func (c *proofCmd) Validate() error {
	if err := within("armed", c.Armed, proofSmall, armedMax); err != nil {
		return err
	}
	// All parts are checked before the first one runs, as loading takes long.
	for _, j := range c.jitters() {
		if err := j.Validate(); err != nil {
			return err
		}
	}
	for _, h := range c.herds() {
		if err := h.Validate(); err != nil {
			return err
		}
	}
	return nil
}

// jitters returns the rates that are measured, in order. The first is compared with that of the small
// server.
func (c *proofCmd) jitters() []*jitterCmd {
	small := defaultJitter().Payload
	return []*jitterCmd{
		{group: "plain/", Rate: 1600, For: c.For, Armed: c.Armed, Payload: small},
		{group: "large/", Rate: 1600, For: c.For, Armed: c.Armed, Payload: 1 << 10},
		{group: "busy/", Rate: 5000, For: c.For, Armed: c.Armed, Payload: small, Register: 1000},
	}
}

// herds returns the herds that are measured, in order. They differ from the default one only in size.
func (c *proofCmd) herds() (herds []*herdCmd) {
	for _, jobs := range []int{10_000, 100_000} {
		h := defaultHerd()
		h.Jobs, h.Armed = jobs, c.Armed
		herds = append(herds, h)
	}
	return herds
}

// One server carries all of it, because loading ten million jobs is the longest part.
func (c *proofCmd) measure(s *stand) []*result {
	few := *c.jitters()[0]
	// Everything but the number of jobs is that of the first window on the large server.
	few.Armed = proofSmall
	small, smallTally := few.run(s)
	small.Name = "jitter_beside_few"
	results := []*result{s.show(small)}
	if s.ctx.Err() != nil {
		return results
	}
	load, l := loadBulk(s, c.Armed)
	results = append(results, s.show(load))
	if l == nil {
		return results
	}
	defer func() { l.server.clear() }() // recovery replaces the server, so this closes the last one
	results = append(results, c.beside(s, l.server, l.client, smallTally)...)
	if s.ctx.Err() != nil {
		l.client.Close()
		return results
	}
	return append(results, s.show(recoverLoaded(s, l, 1)))
}

// beside runs the workloads on the loaded server. A workload that fails does not keep the next from running:
// loading the server again would take longer.
func (c *proofCmd) beside(s *stand, srv *server, cl *client.Client, small tally) []*result {
	var results []*result
	for i, j := range c.jitters() {
		// The group without its slash.
		r := &result{Name: "jitter_" + j.group[:len(j.group)-1], Setting: j.setting()}
		t, err := j.fire(s, srv, cl, r)
		if err != nil {
			r.breaks("%v", err)
		}
		if i == 0 && small.all.at(99_000) > 0 {
			r.add("p99_ratio", fmt.Sprintf("p99, times that beside %d jobs", proofSmall), float64(t.all.at(99_000))/float64(small.all.at(99_000)), "")
		}
		if results = append(results, s.show(r)); s.ctx.Err() != nil {
			return results
		}
	}
	for _, h := range c.herds() {
		r := &result{Name: fmt.Sprintf("herd_%d", h.Jobs), Setting: h.setting()}
		if err := h.fire(s, srv, cl, r); err != nil {
			r.breaks("%v", err)
		}
		if results = append(results, s.show(r)); s.ctx.Err() != nil {
			return results
		}
	}
	return results
}
