package bench

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-io/carillon/client"
)

// contender is a cluster that fires in turns, and what was measured in each of them.
type contender struct {
	*outside
	rate  int // jobs, each of which ticks once a second
	nc    *nats.Conn
	turns []turn

	mu       sync.Mutex
	lateness samples // of the runs since the last reading
}

// turn is what was measured in a window.
type turn struct {
	nodes, nats    float64 // processor time a run, in microseconds
	commits, syncs float64 // a second
	rate           float64 // runs a second
	late           float64 // p99, in milliseconds
}

// newContender subscribes to the runs of a cluster.
func newContender(o *outside, rate int) (*contender, error) {
	nc, err := nats.Connect(o.urls, nats.Name("bench runs"))
	if err != nil {
		return nil, err
	}
	one := &contender{outside: o, rate: rate, nc: nc}
	sub, err := nc.Subscribe(fireSubject, one.receive)
	if err == nil {
		err = errors.Join(sub.SetPendingLimits(-1, -1), nc.Flush())
	}
	return one, err
}

// receive notes the lateness of a run.
func (o *contender) receive(m *nats.Msg) {
	arrived := time.Now()
	scheduled, _ := time.Parse(time.RFC3339, m.Header.Get("Carillon-Scheduled-At"))
	o.mu.Lock()
	o.lateness = append(o.lateness, arrived.Sub(scheduled))
	o.mu.Unlock()
}

// received returns the lateness of the runs since the last call.
func (o *contender) received() (all samples) {
	o.mu.Lock()
	defer o.mu.Unlock()
	all, o.lateness = o.lateness, nil
	return all
}

const (
	// runsWarm is how long jobs tick before they are measured: longer than ticks are decided ahead, so that as many are decided
	// in the window as fire in it.
	runsWarm = 13 * time.Second
	// runsArm is how long putting all jobs takes, one by one: so long that hardly two of them are in one commit of a shard, which
	// gives all its jobs the same place in a second. Jobs that are put together are in one commit of a cluster of one shard and
	// in several of another, which then has more instants at which it launches.
	runsArm = 12 * time.Second
	// runsAtOnce bounds the jobs that are put at the same time, where a server is slower than that.
	runsAtOnce = 16
	// runsQuiet is how long a cluster must not have fired before it counts as quiet, and runsQuietMost bounds the wait.
	runsQuiet     = 2 * time.Second
	runsQuietMost = time.Minute
)

// turn lets the jobs tick, measures a window, and stops them. A profile, if profiles is no "", is of the window.
func (o *contender) turn(s *stand, length time.Duration, profiles string) error {
	if err := o.arm(s); err != nil {
		return err
	}
	s.wait(runsWarm)
	if err := o.settle(s); err != nil {
		return err
	}
	before, err := o.read()
	if err != nil {
		return err
	}
	profiled := o.profile(profiles, length)
	began := time.Now()
	s.wait(length)
	late := o.received()
	after, err := o.read()
	if err = errors.Join(err, profiled(), s.ctx.Err()); err != nil {
		return err
	}
	took := time.Since(began).Seconds()
	n := float64(len(late))
	if want := float64(o.rate) * length.Seconds(); n < 0.95*want || n > 1.05*want {
		return fmt.Errorf("%.0f runs have arrived in %s, which should be %.0f", n, length, want)
	}
	slices.Sort(late)
	o.turns = append(o.turns, turn{
		nodes: (after.nodes - before.nodes).Seconds() * 1e6 / n, nats: (after.nats - before.nats).Seconds() * 1e6 / n,
		commits: (after.commits - before.commits) / took, syncs: (after.syncs - before.syncs) / took,
		rate: n / took, late: millis(late.at(99_000)),
	})
	return o.quiet(s)
}

// settle waits until the cluster fires at its rate: on a busy machine it still catches up with ticks that it has missed while the
// jobs were registered.
func (o *contender) settle(s *stand) error {
	o.received()
	for end := time.Now().Add(runsQuietMost); time.Now().Before(end) && s.ctx.Err() == nil; {
		s.wait(runsQuiet)
		if n, want := float64(len(o.received())), float64(o.rate)*runsQuiet.Seconds(); n > 0.98*want && n < 1.02*want {
			return nil
		}
	}
	return errors.Join(s.ctx.Err(), fmt.Errorf("the cluster does not fire %d runs a second after %s", o.rate, runsQuietMost))
}

// arm lets all jobs tick once a second. It puts them one after the other, so that their ticks are spread over the second.
func (o *contender) arm(s *stand) error {
	began, parts, ended := time.Now(), make(chan int), make(chan error)
	for range runsAtOnce {
		go func() {
			var err error
			for part := range parts {
				err = errors.Join(err, o.put(s, part, o.rate, "@every "+interval.String()))
			}
			ended <- err
		}()
	}
	for part := range o.rate {
		s.wait(time.Until(began.Add(armAt(part, o.rate))))
		parts <- part
	}
	close(parts)
	var err error
	for range runsAtOnce {
		err = errors.Join(err, <-ended)
	}
	return err
}

// put gives the jobs of one of some parts a schedule.
func (o *contender) put(s *stand, part, parts int, schedule string) error {
	var jobs []client.Job
	for i := part; i < o.rate; i += parts {
		jobs = append(jobs, fireJob(everyName(i), schedule, padded(len(`{"bench":true}`))))
	}
	if len(jobs) == 0 {
		return nil
	}
	return putJobs(s.ctx, o.client, slices.Values(jobs))
}

// armAt returns when one of so many jobs is put. The instants are evenly apart, and no two have the same place in their second.
func armAt(n, jobs int) time.Duration {
	rounds := int(runsArm / interval)
	return runsArm*time.Duration(n)/time.Duration(jobs) + time.Duration(n*rounds/jobs)*interval/time.Duration(jobs)
}

// quiet stops the jobs, and waits until none fires any more.
func (o *contender) quiet(s *stand) error {
	if err := o.put(s, 0, 1, "@at "+client.At(time.Now().Add(farAhead)).String()); err != nil {
		return err
	}
	for end := time.Now().Add(runsQuietMost); time.Now().Before(end) && s.ctx.Err() == nil; {
		o.received()
		s.wait(runsQuiet)
		if len(o.received()) == 0 {
			return nil
		}
	}
	return errors.Join(s.ctx.Err(), fmt.Errorf("jobs whose schedule is far ahead still fire after %s", runsQuietMost))
}

// reading is what the processes of a cluster have used so far.
type reading struct {
	nodes, nats    time.Duration
	commits, syncs float64
}

// read reads the counters of all processes.
func (o *contender) read() (at reading, err error) {
	at = reading{nodes: cpuOfAll(o.nodes), nats: cpuOfAll(o.brokers)}
	for _, m := range o.nodes {
		figures, err := m.scrape()
		if err != nil {
			return at, err
		}
		at.commits += figures["carillon_commits_total"]
		at.syncs += figures["carillon_wal_fsync_seconds_count"]
	}
	return at, nil
}

// profile begins to write a profile of each node into a directory, and returns a function that waits for them. With "" it does
// nothing.
func (o *contender) profile(dir string, length time.Duration) (wait func() error) {
	if dir == "" {
		return func() error { return nil }
	}
	errs := make(chan error, len(o.nodes))
	for i, address := range o.profiles {
		path := filepath.Join(dir, fmt.Sprintf("shards-%d-%s.pprof", o.shards, o.names[i]))
		go func() { errs <- fetchProfile(path, address, length) }()
	}
	return func() (err error) {
		for range o.nodes {
			err = errors.Join(err, <-errs)
		}
		return err
	}
}

// fetchProfile writes a processor profile of a node to a file.
func fetchProfile(path, address string, length time.Duration) error {
	reply, err := http.Get(fmt.Sprintf("http://%s/debug/pprof/profile?seconds=%d", address, int(length.Seconds())))
	if err != nil {
		return err
	}
	defer reply.Body.Close()
	text, err := io.ReadAll(reply.Body)
	if err != nil || reply.StatusCode != http.StatusOK {
		return errors.Join(err, fmt.Errorf("profile of %s: %s", address, reply.Status))
	}
	return os.WriteFile(path, text, 0o644)
}
