package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
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

// run registers on a fresh system: by one client, by many, by many that share a connection, in bulk.
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
	done += more
	if more, err = s.byOneConnection(w); err != nil {
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

// byOneConnection lets as many callers in one process register over one connection, which is how a program uses NATS. asynq and
// River have no such way: their clients send over a pool of connections, so that many clients are many connections.
func (s *stand) byOneConnection(w registration) (int, error) {
	client, err := s.system.dial(s.ctx)
	if err != nil {
		return 0, err
	}
	defer client.close()
	if hasPool(client) {
		return 0, nil
	}
	const from = farNumber / 4 // the numbers of the loop before have gaps, so these begin where none of them can be
	return s.loopAll("shared", fmt.Sprintf("%d callers, one connection", w.clients), slices.Repeat([]registrar{client}, w.clients), from, w.many)
}

// closedLoop lets clients register for a while, each one job after the other, and returns how many.
func (s *stand) closedLoop(key, label string, clients, from int, length time.Duration) (int, error) {
	all := make([]registrar, clients)
	for i := range all {
		if i > 0 && hasPool(all[0]) {
			all[i] = all[0]
			continue
		}
		client, err := s.system.dial(s.ctx)
		if err != nil {
			return 0, err
		}
		defer client.close()
		all[i] = client
	}
	return s.loopAll(key, label, all, from, length)
}

// hasPool reports whether all clients of a process share one, which has a connection for each request under way.
func hasPool(client registrar) bool {
	switch client.(type) {
	case *riverClient, asynqClient:
		return true
	}
	return false
}

// loopAll lets callers register for a while, and returns how many jobs they registered.
func (s *stand) loopAll(key, label string, clients []registrar, from int, length time.Duration) (int, error) {
	loopers := make([]*looper, len(clients))
	for i, client := range clients {
		loopers[i] = &looper{client: client}
	}
	var group sync.WaitGroup
	server, own := cpuOf(s.system.pid()), cpuOfOne(os.Getpid())
	began := time.Now()
	for i, l := range loopers {
		group.Go(func() { l.err = l.loop(s.ctx, began.Add(length), from+i, len(clients)) })
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
