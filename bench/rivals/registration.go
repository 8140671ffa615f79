package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"
)

// registration is the workload of jobs that are only registered.
type registration struct {
	alone   time.Duration // how long one client registers
	clients int           // how many do at the same time
	many    time.Duration // how long they do
	bulk    int           // jobs that are registered at once, by those who can
}

func (w *registration) setting() string {
	return fmt.Sprintf("one client for %s, %d clients for %s, one job a call; %d jobs in bulk", w.alone, w.clients, w.many, w.bulk)
}

// run registers on a fresh system: by one client, by many, in bulk.
func (s *stand) run(w registration) error {
	s.result.Setting = w.setting() + "; " + s.mode.setting
	if s.mode.bulk != "" {
		s.result.Setting += "; bulk: " + s.mode.bulk
	}
	done, err := s.closedLoop("one", "one client", 1, 0, w.alone)
	if err != nil {
		return err
	}
	more, err := s.closedLoop("many", fmt.Sprintf("%d clients", w.clients), w.clients, done, w.many)
	if err != nil {
		return err
	}
	if done += more; s.mode.bulk != "" && !s.interrupted() {
		if err := s.inBulk(done, w.bulk); err != nil {
			return err
		}
		done += w.bulk
	}
	if s.interrupted() {
		s.result.notes("interrupted: these are the figures so far")
		return nil
	}
	if err := s.compare(done); err != nil {
		return err
	}
	pause(s.ctx, time.Second)
	return s.weigh(done)
}

// compare demands that the system has what it acknowledged.
func (s *stand) compare(acknowledged int) error {
	has, err := s.system.count(s.ctx)
	if err != nil {
		return fmt.Errorf("count the jobs: %w", err)
	}
	s.result.figure("jobs", "jobs acknowledged in all", float64(acknowledged), "")
	if has == acknowledged {
		return nil
	}
	tell := s.result.notes
	if s.mode.ours() {
		tell = s.result.breaks
	}
	tell("%d jobs were acknowledged, the server has %d", acknowledged, has)
	return nil
}

// closedLoop lets clients register for a while, each one job after the other, and returns how many.
func (s *stand) closedLoop(key, label string, clients, from int, length time.Duration) (int, error) {
	loopers := make([]*looper, clients)
	for i := range loopers {
		client, err := s.dialShared(loopers[:i])
		if err != nil {
			return 0, err
		}
		defer client.close()
		loopers[i] = &looper{client: client}
	}
	var group sync.WaitGroup
	server, own := cpuOf(s.system.pid()), cpuOfOne(os.Getpid())
	began := time.Now()
	for i, l := range loopers {
		group.Go(func() { l.err = l.loop(s.ctx, began.Add(length), from+i, clients) })
	}
	group.Wait()
	took := time.Since(began)
	server, own = cpuOf(s.system.pid())-server, cpuOfOne(os.Getpid())-own
	var all samples
	var errs []error
	for _, l := range loopers {
		all = append(all, l.took...)
		errs = append(errs, l.err)
	}
	s.result.figure(key+"_per_second", label+": jobs a second", float64(len(all))/took.Seconds(), "/s")
	s.result.spread(key+"_call", label+": call", all)
	each := func(d time.Duration) float64 { return float64(d.Microseconds()) / float64(max(len(all), 1)) }
	s.result.figure(key+"_server_cpu_us", label+": server CPU a job", each(server), "µs")
	s.result.figure(key+"_client_cpu_us", label+": clients' CPU a job", each(own), "µs")
	return len(all), errors.Join(errs...)
}

// dialShared returns a client: one of its own, unless the rival's clients share one by design.
func (s *stand) dialShared(before []*looper) (registrar, error) {
	if len(before) > 0 {
		switch shared := before[0].client.(type) {
		case *riverClient, asynqClient:
			return sharedClient{shared}, nil
		}
	}
	return s.system.dial(s.ctx)
}

// sharedClient is a client that somebody else closes.
type sharedClient struct{ registrar }

func (sharedClient) close() {}

// looper is one client of a closed loop.
type looper struct {
	client registrar
	took   samples
	err    error
}

// loop registers one job after the other. A call that is under way when the time is up is waited for:
// its outcome must be known.
func (l *looper) loop(ctx context.Context, until time.Time, number, step int) error {
	due := time.Now().Truncate(time.Millisecond).Add(farAhead)
	for time.Now().Before(until) && ctx.Err() == nil {
		j := job{farNumber + number, due.Add(time.Duration(number) * time.Millisecond)}
		began := time.Now()
		if err := l.client.put(context.WithoutCancel(ctx), j); err != nil {
			return fmt.Errorf("register job %d: %w", number, err)
		}
		l.took = append(l.took, time.Since(began))
		number += step
	}
	return nil
}

// inBulk registers many jobs at once.
func (s *stand) inBulk(from, count int) error {
	client, err := s.system.dial(s.ctx)
	if err != nil {
		return err
	}
	defer client.close()
	// Numbers of the loops before have gaps, so these begin where none of them can be.
	jobs := farJobs(from+farNumber/2, count)
	began := time.Now()
	if err := s.putAll(client, jobs); err != nil {
		return fmt.Errorf("register %d jobs in bulk: %w", count, err)
	}
	s.result.figure("bulk_per_second", "bulk: jobs a second", float64(count)/time.Since(began).Seconds(), "/s")
	return nil
}
