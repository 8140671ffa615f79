package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/carillon-io/carillon/client"
)

// latenessCmd fires jobs at a receiver in another process.
type latenessCmd struct {
	Jobs  int           `help:"One-shots, at random milliseconds of the window." default:"2000"`
	Every int           `help:"Jobs that tick once a second." default:"200"`
	For   time.Duration `help:"Length of the window." default:"10s"`
	Armed int           `help:"Jobs besides, armed for a far future." default:"0"`
}

func defaultLateness() *latenessCmd {
	return &latenessCmd{Jobs: 2000, Every: 200, For: 10 * time.Second}
}

// Bounds of the command line.
const (
	oneShotsMax    = 5_000_000
	everyMax       = 100_000
	armedMax       = 50_000_000
	windowMax      = time.Hour
	firesPerSecMax = 200_000
)

// Validate refuses sizes that make no sense.
func (c *latenessCmd) Validate() error {
	for _, err := range []error{
		within("jobs", c.Jobs, 0, oneShotsMax),
		within("every", c.Every, 0, everyMax),
		within("armed", c.Armed, 0, armedMax),
	} {
		if err != nil {
			return err
		}
	}
	if c.For < time.Second || c.For > windowMax {
		return fmt.Errorf("--for is %s; want 1s to %s", c.For, windowMax)
	}
	if c.Jobs+c.Every == 0 {
		return fmt.Errorf("--jobs and --every are both 0; there is nothing to fire")
	}
	if rate := c.rate(); rate > firesPerSecMax {
		return fmt.Errorf("that makes %d fires a second; want at most %d", rate, firesPerSecMax)
	}
	return nil
}

// rate returns the fires of a second, on average.
func (c *latenessCmd) rate() int { return int(float64(c.Jobs)/c.For.Seconds()) + c.Every }

// interval is the distance of two ticks of the jobs that tick again and again.
const interval = time.Second

const (
	fireSubject  = "bench.fire"
	quietSubject = "bench.quiet" // of jobs that are not to fire while it counts
)

func (c *latenessCmd) measure(s *stand) []*result {
	r := &result{Name: "lateness"}
	r.Setting = fmt.Sprintf("%d one-shots over %s and %d × @every %s, %d more armed; arrival at a NATS subscriber in another process",
		c.Jobs, c.For, c.Every, interval, c.Armed)
	if err := c.fire(s, r); err != nil {
		r.breaks("%v", err)
	}
	return []*result{s.show(r)}
}

func (c *latenessCmd) fire(s *stand, r *result) error {
	srv, cl, err := s.start("lateness")
	if err != nil {
		return err
	}
	defer srv.kill()
	defer cl.Close()
	if err := c.arm(s, cl); err != nil {
		return err
	}
	recv, err := startReceiver(srv.ready.NATS, fireSubject)
	if err != nil {
		return err
	}
	w, err := c.register(s, cl)
	if err != nil {
		return err
	}
	m := startMeter(srv.cmd.Process.Pid, recv.cmd.Process.Pid)
	c.watch(s, w)
	m.stop()
	receipts, err := recv.collect()
	if err != nil {
		return err
	}
	w.cut(time.Now().Add(-settleWait))
	t := w.judge(receipts)
	t.tell(r)
	m.tell(r)
	return c.compare(s, cl, srv, r)
}

// arm registers the jobs that only take up room.
func (c *latenessCmd) arm(s *stand, cl *client.Client) error {
	if c.Armed == 0 {
		return nil
	}
	load := newBulkLoad(s, c.Armed)
	if err := load.run(cl); err != nil {
		return fmt.Errorf("arm %d jobs: %w", c.Armed, err)
	}
	return nil
}

// register puts the jobs that fire. Intervals begin when the server takes them, so they are put in
// groups, spread over one interval.
func (c *latenessCmd) register(s *stand, cl *client.Client) (*window, error) {
	const groups = 20
	for g := range groups {
		var jobs []client.Job
		for i := g; i < c.Every; i += groups {
			jobs = append(jobs, fireJob(everyName(i), "@every "+interval.String()))
		}
		if err := putJobs(s.ctx, cl, jobs); err != nil {
			return nil, err
		}
		s.wait(interval / groups)
	}
	// The head start is for the registration: some 10,000 a second are slow for bulk.
	start := time.Now().Add(time.Second + time.Duration(c.Jobs)*time.Second/10_000).Truncate(time.Millisecond)
	w := &window{from: start, to: start.Add(c.For), due: make(map[string]time.Time, c.Jobs), every: c.Every}
	rng := rand.New(rand.NewPCG(s.seed, 1))
	jobs := make([]client.Job, c.Jobs)
	for i := range jobs {
		name := fmt.Sprintf("shot-%d", i)
		w.due[name] = start.Add(time.Duration(rng.Int64N(c.For.Milliseconds())) * time.Millisecond)
		jobs[i] = fireJob(name, "@at "+client.At(w.due[name]).String())
	}
	if err := putJobs(s.ctx, cl, jobs); err != nil {
		return nil, err
	}
	if late := time.Since(start); late > 0 {
		return nil, fmt.Errorf("registering took %s longer than its head start; the machine is too slow for this size", late)
	}
	return w, nil
}

func fireJob(name, schedule string) client.Job {
	return client.Job{
		Name: name, Schedule: schedule, Target: client.Target{Kind: "nats", Subject: fireSubject},
		Payload: json.RawMessage(`{"bench":true}`), OverlapPolicy: "allow",
	}
}

// putJobs registers jobs, each of which must be taken.
func putJobs(ctx context.Context, cl *client.Client, jobs []client.Job) error {
	var first *client.Error
	totals, err := cl.PutAll(ctx, slices.Values(jobs), func(p client.PutResult) {
		if p.Error != nil && first == nil {
			first = p.Error
		}
	})
	if err == nil && first != nil {
		err = fmt.Errorf("%d of %d jobs were rejected, the first with: %w", totals.Rejected, len(jobs), first)
	}
	return err
}

// settleWait is how late a run may be and still be waited for.
const settleWait = 2 * time.Second

// watch waits until the window is over and all of it had time to arrive.
func (c *latenessCmd) watch(s *stand, w *window) {
	const tick = 2 * time.Second
	for end := w.to.Add(settleWait); s.ctx.Err() == nil && time.Now().Before(end); {
		s.wait(min(tick, time.Until(end)))
		s.say("lateness: %s of %s", max(0, time.Since(w.from)).Round(time.Second), end.Sub(w.from))
	}
}

// compare puts the server's own account beside what arrived.
func (c *latenessCmd) compare(s *stand, cl *client.Client, srv *server, r *result) error {
	ctx, cancel := s.asking()
	defer cancel()
	st, err := cl.Status(ctx)
	if err != nil {
		return fmt.Errorf("status: %w", err)
	}
	r.add("launch_p50_ms", "launch, as the server says, p50", st.Lateness.P50MS, "ms")
	r.add("launch_p99_ms", "launch, as the server says, p99", st.Lateness.P99MS, "ms")
	r.add("launch_max_ms", "launch, as the server says, max", st.Lateness.MaxMS, "ms")
	if st.Failed > 0 || st.Dead > 0 {
		r.breaks("%d attempts failed, %d runs are dead", st.Failed, st.Dead)
	}
	return srv.stop()
}
