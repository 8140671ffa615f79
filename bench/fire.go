package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/carillon-io/carillon/client"
)

// interval is the interval of the jobs with @every. In a window of seconds each such job ticks a few times.
const interval = time.Second

const (
	// They are apart, so that the receiver gets nothing that is not measured.
	fireSubject  = "bench.fire"
	quietSubject = "bench.quiet" // of jobs that are not to fire while it counts
)

// arm registers jobs that never fire during the measurement, so that the wheel and the store hold them.
func arm(s *stand, cl *client.Client, count int) error {
	if count == 0 {
		return nil
	}
	load := newBulkLoad(s, count)
	if err := load.run(cl); err != nil {
		return fmt.Errorf("arm %d jobs: %w", count, err)
	}
	s.wait(idleWait)
	return nil
}

// register puts the jobs that fire. An @every counts from its registration, so these jobs are put in groups that are
// spread over one interval. The due times are random within the window and come from the seed, so a run can be
// repeated.
func (c *jitterCmd) register(s *stand, cl *client.Client) (*window, error) {
	const groups = 20
	payload := padded(c.Payload)
	for g := range groups {
		var jobs []client.Job
		for i := g; i < c.Every; i += groups {
			jobs = append(jobs, fireJob(everyName(i), "@every "+interval.String(), payload))
		}
		if err := putJobs(s.ctx, cl, slices.Values(jobs)); err != nil {
			return nil, err
		}
		s.wait(interval / groups)
	}
	count := int(float64(c.Rate) * c.For.Seconds())
	w := newWindow(time.Now().Add(c.ahead+headStart(count)), c.For, c.Every)
	rng := rand.New(rand.NewPCG(s.seed, 1))
	err := putJobs(s.ctx, cl, func(yield func(client.Job) bool) {
		for i := range count {
			name := fmt.Sprintf("%sshot-%d", c.group, i)
			due := w.from.Add(time.Duration(rng.Int64N(c.For.Milliseconds())) * time.Millisecond)
			w.due[name] = due
			if !yield(fireJob(name, "@at "+client.At(due).String(), payload)) {
				return
			}
		}
	})
	if err != nil {
		return nil, err
	}
	return w, w.checkStart()
}

// headStart returns how long before the window the registration of count one-shots begins. It assumes 25,000 per
// second, which is slow for bulk requests. If it is not enough, checkStart makes the run fail instead of measuring
// late registrations.
func headStart(count int) time.Duration {
	return 2*time.Second + time.Duration(count)*time.Second/25_000
}

// background registers jobs one by one while the window is open. The channel receives its error, or nil, at the end.
// It is open loop: a registration that is late does not shift the time of the next one.
func (c *jitterCmd) background(s *stand, cl *client.Client, w *window) <-chan error {
	done := make(chan error, 1)
	if c.Register == 0 {
		done <- nil
		return done
	}
	const callers = 16 // each waits for the reply to its request
	errs := make(chan error, callers)
	for caller := range callers {
		go func() {
			step := time.Second * callers / time.Duration(c.Register)
			next := w.from.Add(step * time.Duration(caller) / callers)
			for n := 0; next.Before(w.to) && s.ctx.Err() == nil; n++ {
				s.wait(time.Until(next))
				next = next.Add(step)
				j := farJob(fmt.Sprintf("%smeanwhile-%d-%d", c.group, caller, n), n)
				if _, _, err := cl.Put(s.ctx, j); err != nil && s.ctx.Err() == nil {
					errs <- fmt.Errorf("register meanwhile: %w", err)
					return
				}
			}
			// Each caller sends exactly one result.
			errs <- nil
		}()
	}
	go func() {
		var first error
		for range callers {
			if err := <-errs; first == nil {
				first = err
			}
		}
		done <- first
	}()
	return done
}

// padded returns a JSON value of about size bytes. Sizes below the frame give an empty object.
func padded(size int) json.RawMessage {
	const frame = len(`{"pad":""}`)
	if size <= frame {
		return json.RawMessage(`{}`)
	}
	return json.RawMessage(`{"pad":"` + strings.Repeat("x", size-frame) + `"}`)
}

// fireJob returns a job whose target is the receiver's subject. The overlap policy is allow, so that a run whose
// answer is late does not skip the next tick, which would count as missing.
func fireJob(name, schedule string, payload json.RawMessage) client.Job {
	return client.Job{
		Name: name, Schedule: schedule, Target: client.Target{Kind: "nats", Subject: fireSubject},
		Payload: payload, OverlapPolicy: "allow",
	}
}

// putJobs registers jobs. It returns an error if the server rejects one.
func putJobs(ctx context.Context, cl *client.Client, jobs func(func(client.Job) bool)) error {
	var first *client.Error
	totals, err := cl.PutAll(ctx, jobs, func(p client.PutResult) {
		if p.Error != nil && first == nil {
			first = p.Error
		}
	})
	if err == nil && first != nil {
		err = fmt.Errorf("%d of %d jobs were rejected, the first with: %w", totals.Rejected, totals.Rejected+totals.Accepted, first)
	}
	return err
}

// settleWait is how long after the window the harness waits for late runs. A run that comes later than this counts as
// lost.
const settleWait = 2 * time.Second

// watch waits until the window is over and its last runs have had settleWait to arrive.
func (s *stand) watch(name string, w *window) {
	const tick = 2 * time.Second
	for end := w.to.Add(settleWait); s.ctx.Err() == nil && time.Now().Before(end); {
		s.wait(min(tick, time.Until(end)))
		s.say("%s: %s of %s", name, max(0, time.Since(w.from)).Round(time.Second), end.Sub(w.from))
	}
}
