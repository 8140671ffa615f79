package bench

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-io/carillon/job"
)

// shardsCmd measures what several shards cost: two clusters run side by side, one with one shard and one with several,
// each of two nodes and a witness with embedded NATS servers.
type shardsCmd struct {
	Shards  int           `help:"Shards of the second cluster." default:"4"`
	Idle    time.Duration `help:"Length of each window in which both do nothing." default:"10s"`
	Windows int           `help:"Number of these windows." default:"3"`
	Puts    int           `help:"Registrations of one client in each way." default:"1000"`
	Clients int           `help:"Clients that register at the same time, each with a connection of its own." default:"64"`
	For     time.Duration `help:"How long they do, in each way." default:"4s"`
}

// Validate returns an error for sizes out of range.
func (c *shardsCmd) Validate() error {
	if err := job.ValidateShards(c.Shards); err != nil || c.Shards < 2 {
		return errors.Join(err, fmt.Errorf("--shards is %d; want 2 or more", c.Shards))
	}
	if c.Idle < time.Second || c.Idle > windowMax || c.For < 100*time.Millisecond || c.For > windowMax {
		return fmt.Errorf("--idle is %s and --for is %s; want a second, and a tenth of one, to %s", c.Idle, c.For, windowMax)
	}
	return errors.Join(within("windows", c.Windows, 1, 20), within("puts", c.Puts, 1, 1_000_000), within("clients", c.Clients, 1, 4096))
}

// divided is a cluster with several shards, as a client of one of its nodes sees it.
type divided struct {
	*trio
	shards  int
	node    *server // to which the clients connect
	leaders []string
}

func (c *shardsCmd) measure(s *stand) []*result {
	idle := &result{Name: "shards_idle", Setting: fmt.Sprintf("clusters of two nodes and a witness with one shard and with %d, %d windows of %s at the same time", c.Shards, c.Windows, c.Idle)}
	wire := &result{Name: "shards_wire", Setting: fmt.Sprintf("what the nodes of both clusters send each other in %s in which nothing fires", c.Idle)}
	puts := &result{Name: "shards_put", Setting: fmt.Sprintf("%d registrations of one client, in turns at the subject of the shard and at a node that passes them on to another one", c.Puts)}
	many := &result{Name: "shards_put_many_clients", Setting: fmt.Sprintf("%d clients for %s at the subjects of the shards, then at the nodes", c.Clients, c.For)}
	one, err := s.launchTrio("one")
	defer one.clear()
	if err != nil {
		idle.breaks("%v", err)
		return []*result{s.show(idle)}
	}
	several, err := s.launchTrio("several", "--shards", strconv.Itoa(c.Shards))
	defer several.clear()
	d := &divided{trio: several, shards: c.Shards}
	results := []*result{}
	for _, part := range []struct {
		r   *result
		run func(*stand, *result, *trio, *divided) error
	}{{idle, c.idle}, {wire, c.wire}, {puts, c.put}, {many, c.together}} {
		if err == nil {
			err = part.run(s, part.r, one, d)
		}
		if err != nil && s.ctx.Err() == nil {
			part.r.breaks("%v", err)
		}
		if results = append(results, s.show(part.r)); err != nil {
			break
		}
	}
	return results
}

// idle compares the processor time of both clusters while they do nothing, in the same windows.
func (c *shardsCmd) idle(s *stand, r *result, one *trio, d *divided) error {
	if err := d.spread(s); err != nil {
		return err
	}
	var ratios, of1, ofMany []float64
	for i := range c.Windows {
		s.say("idle: window %d of %d", i+1, c.Windows)
		before1, beforeMany := one.cpu(), d.cpu()
		began := time.Now()
		s.wait(c.Idle)
		took := time.Since(began).Seconds()
		a, b := (one.cpu()-before1).Seconds()/took, (d.cpu()-beforeMany).Seconds()/took
		of1, ofMany, ratios = append(of1, 100*a), append(ofMany, 100*b), append(ratios, b/a)
	}
	r.extent("one_percent", "one shard, processor time of all processes", of1, "%")
	r.extent("several_percent", "several shards", ofMany, "%")
	r.extent("ratio", "several to one", ratios, "")
	return s.ctx.Err()
}

// cpu returns the processor time of all processes of a cluster.
func (t *trio) cpu() (sum time.Duration) {
	for _, m := range t.members {
		sum += cpuOf(m.cmd.Process.Pid)
	}
	return sum
}

// spreadWait bounds the wait until both nodes lead as many shards; they hand one over every three seconds.
const spreadWait = 10 * time.Minute

// spread waits until both nodes lead as many shards, so that none is handed over in a window, and finds out which leads which.
func (d *divided) spread(s *stand) error {
	d.node = d.members[0].server
	cl, err := connect(d.node)
	if err != nil {
		return err
	}
	defer cl.Close()
	for end := time.Now().Add(spreadWait); time.Now().Before(end); s.wait(levelEvery) {
		st, err := statusOf(s, cl)
		if err != nil {
			return err
		}
		d.leaders = d.leaders[:0]
		for _, row := range st.Shards {
			d.leaders = append(d.leaders, row.Leader)
		}
		if d.leads("a") == d.shards/2 && d.leads("b") == d.shards/2 {
			return nil
		}
	}
	return fmt.Errorf("the nodes do not lead as many shards after %s: %q", spreadWait, d.leaders)
}

// leads returns how many shards a node leads.
func (d *divided) leads(node string) (n int) {
	for _, leader := range d.leaders {
		if leader == node {
			n++
		}
	}
	return n
}

// away is a name of which another node than the client's leads the shard.
func (d *divided) away(name string) bool { return d.leaders[d.shardOf(name)] != "a" }

func (d *divided) shardOf(name string) uint32 {
	return job.ShardOf(job.SlotOf("default", name), d.shards)
}

// at returns the subject of the shard of a name, on which its leader answers.
func (d *divided) at(name string) string {
	return fmt.Sprintf("carillon.shard.%d.v1.default.jobs.put", d.shardOf(name))
}

// any returns the subject on which any node answers.
func (d *divided) any(string) string { return "carillon.v1.default.jobs.put" }

// put compares single registrations of jobs whose shard another node leads: at the subject of the shard, and at the node
// of the client, which passes them on.
func (c *shardsCmd) put(s *stand, r *result, _ *trio, d *divided) error {
	nc, err := nats.Connect(d.node.ready.NATS, nats.Name("bench"))
	if err != nil {
		return err
	}
	defer nc.Close()
	direct, passed := &putter{name: "direct", register: plainlyAt(nc, d.at)}, &putter{name: "passed", register: plainlyAt(nc, d.any)}
	for n := 0; len(passed.took) < c.Puts && s.ctx.Err() == nil; n++ {
		for _, p := range []*putter{direct, passed} {
			for i := 0; i < putTurn; i++ {
				if j := farJob(fmt.Sprintf("%s-%d-%d", p.name, n, i), n); d.away(j.Name) && !p.putJob(s.ctx, j) {
					return p.err
				}
			}
		}
	}
	r.spread("direct", "at the shard's subject", direct.took)
	r.spread("forwarded", "passed on by a node", passed.took)
	ratio(r, "ratio_p50", "passed on to direct, p50", passed.took.at(50_000), direct.took.at(50_000))
	ratio(r, "ratio_p99", "passed on to direct, p99", passed.took.at(99_000), direct.took.at(99_000))
	return nil
}

// together compares the registrations a second of many clients in the two ways, in four turns.
func (c *shardsCmd) together(s *stand, r *result, _ *trio, d *divided) error {
	var rates [2]float64
	const turns = 4
	for turn := range turns {
		subject := []func(string) string{d.at, d.any}[turn%2]
		n, took, err := c.many(s, d, turn, subject)
		if err != nil {
			return err
		}
		rates[turn%2] += float64(n) / took.Seconds() / (turns / 2)
	}
	r.add("direct_per_second", "at the shards' subjects, acknowledged a second", rates[0], "/s")
	r.add("forwarded_per_second", "at the nodes, acknowledged a second", rates[1], "/s")
	r.add("ratio", "at the nodes to at the shards", rates[1]/rates[0], "")
	return nil
}

// many lets clients of both nodes register jobs of all shards for some time, and returns how many they have registered.
func (c *shardsCmd) many(s *stand, d *divided, turn int, subject func(string) string) (n int, took time.Duration, err error) {
	var all sync.WaitGroup
	putters := make([]*putter, c.Clients)
	for i := range putters {
		nc, err := nats.Connect(d.members[i%2].ready.NATS, nats.Name("bench"))
		if err != nil {
			return 0, 0, err
		}
		defer nc.Close()
		putters[i] = &putter{name: fmt.Sprintf("many-%d-%d", turn, i), register: plainlyAt(nc, subject)}
	}
	began := time.Now()
	for _, p := range putters {
		all.Go(func() {
			for time.Since(began) < c.For && s.ctx.Err() == nil && p.put(context.WithoutCancel(s.ctx)) {
			}
		})
	}
	all.Wait()
	took = time.Since(began)
	for _, p := range putters {
		n += len(p.took)
		err = errors.Join(err, p.err)
	}
	return n, took, err
}
