package main

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// firing is a workload of jobs that fire.
type firing struct {
	name  string // firing or herd
	count int
	step  time.Duration // between one job and the next; 0 for all at once
	armed int           // jobs besides, due in a day
}

// setting says in words what is run.
func (f *firing) setting() string {
	text := fmt.Sprintf("%d jobs due at one instant", f.count)
	if f.step > 0 {
		text = fmt.Sprintf("%d jobs, %.0f a second", f.count, float64(time.Second)/float64(f.step))
	}
	return fmt.Sprintf("%s, %d more pending", text, f.armed)
}

// jobs returns the jobs, the first due at a time. Each is due at a whole millisecond.
func (f *firing) jobs(first time.Time) []job {
	jobs := make([]job, f.count)
	for i := range jobs {
		jobs[i] = job{i, first.Add(f.step * time.Duration(i)).Truncate(time.Millisecond)}
	}
	return jobs
}

// begin returns when the first job is due, if registration begins now. It allows for a rate that all
// reach in bulk, and for the look-ahead of the rival. A herd is due at a whole second, which is all that
// asynq can tell apart.
func (f *firing) begin(m *mode) time.Time {
	const slowest = 20_000 // a second
	head := max(1500*time.Millisecond, m.lookAhead+time.Second) + time.Duration(f.count)*time.Second/slowest
	unit := 100 * time.Millisecond
	if f.step == 0 {
		unit = time.Second
	}
	return time.Now().Add(head + unit).Truncate(unit)
}

// How long arrivals are waited for.
const (
	patience  = 30 * time.Second       // after the last job was due, if some are missing
	linger    = 700 * time.Millisecond // after the last arrival, in case one comes twice
	meterLead = time.Second            // what the servers do before the first job is due counts as well
)

// stand is where one mode runs one workload.
type stand struct {
	*report
	mode   mode
	dir    string
	system system
	empty  float64 // bytes on disk before there was any job
	result result
}

// fire runs the workload on a fresh system.
func (s *stand) fire(f firing) error {
	s.result.Setting = f.setting() + "; " + s.mode.setting
	recv, err := startReceiver(s.system, s.dir)
	if err != nil {
		return err
	}
	defer recv.close()
	client, err := s.dialFiring()
	if err != nil {
		return err
	}
	defer client.close()
	if err := s.arm(client, f.armed); err != nil {
		return err
	}
	jobs, err := s.register(client, f)
	if err != nil {
		return err
	}
	return s.watch(recv, jobs)
}

// dialFiring returns a client whose jobs fire.
func (s *stand) dialFiring() (registrar, error) {
	if other, ok := s.system.(firingDialer); ok {
		return other.dialFiring(s.ctx)
	}
	return s.system.dial(s.ctx)
}

// arm registers jobs that stay pending, and weighs what they cost.
func (s *stand) arm(client registrar, count int) error {
	if count == 0 {
		return nil
	}
	began := time.Now()
	if err := s.putAll(client, farJobs(0, count)); err != nil {
		return fmt.Errorf("arm %d jobs: %w", count, err)
	}
	s.say("%s: %s: %d jobs armed in %s", s.result.Name, s.mode.name, count, time.Since(began).Round(100*time.Millisecond))
	return s.weigh(count)
}

// armPart is how many jobs are registered between two words about it.
const armPart = 200_000

func (s *stand) putAll(client registrar, jobs []job) error {
	done, said := 0, time.Now()
	for part := range slices.Chunk(jobs, armPart) {
		if err := client.putAll(s.ctx, part); err != nil {
			return err
		}
		if done += len(part); time.Since(said) > 2*time.Second && done < len(jobs) {
			said = time.Now()
			s.say("%s: %s: %d of %d jobs registered", s.result.Name, s.mode.name, done, len(jobs))
		}
	}
	return nil
}

// weigh reads what a number of pending jobs takes.
func (s *stand) weigh(count int) error {
	const mib = 1 << 20
	s.result.figure("memory_mib", "server memory, jobs pending", memoryOf(s.system.pid())/mib, "MiB")
	disk, err := diskOf(s.system.data())
	if err != nil {
		return err
	}
	s.result.figure("disk_mib", "on disk", disk/mib, "MiB")
	s.result.figure("disk_bytes_per_job", "on disk a job, over an empty server", (disk-s.empty)/float64(count), "B")
	return nil
}

// register registers the jobs that fire.
func (s *stand) register(client registrar, f firing) ([]job, error) {
	jobs := f.jobs(f.begin(&s.mode))
	if err := s.putAll(client, jobs); err != nil {
		return nil, fmt.Errorf("register %d jobs: %w", len(jobs), err)
	}
	if left := time.Until(jobs[0].due); left < s.mode.lookAhead {
		return nil, fmt.Errorf("registering ended %s before the first job was due; want %s: the machine is too slow for this size",
			left.Round(time.Millisecond), s.mode.lookAhead)
	}
	return jobs, nil
}

// watch waits for the jobs to fire, and judges what arrived.
func (s *stand) watch(recv *receiver, jobs []job) error {
	pause(s.ctx, time.Until(jobs[0].due.Add(-meterLead)))
	m := startMeter(s.system.pid(), recv.pid())
	if err := s.await(recv, jobs); err != nil {
		return err
	}
	m.stop()
	receipts, err := recv.collect()
	if err != nil {
		return err
	}
	until := jobs[len(jobs)-1].due
	if s.interrupted() {
		// What was due in the last moment may be under way still.
		until = time.Now().Add(-2 * time.Second)
		s.result.notes("interrupted: these are the figures so far")
	}
	t := judge(jobs, receipts, until)
	if t.due == 0 {
		return nil // interrupted before anything counted
	}
	t.tell(&s.result, s.mode.ours())
	m.tell(&s.result, len(t.lateness))
	s.result.figure("memory_after_mib", "server memory, all fired", memoryOf(s.system.pid())/(1<<20), "MiB")
	return nil
}

// await waits until all jobs have arrived, or none has for too long, or the user interrupts.
func (s *stand) await(recv *receiver, jobs []job) error {
	const look, word = 200 * time.Millisecond, 5 * time.Second
	last := jobs[len(jobs)-1].due
	pause(s.ctx, time.Until(jobs[0].due))
	for said := time.Now(); ; {
		count, err := recv.count()
		if err != nil {
			return err
		}
		if s.interrupted() || count >= len(jobs) || time.Since(last) > patience {
			break
		}
		if time.Since(said) > word {
			said = time.Now()
			s.say("%s: %s: %d of %d arrived", s.result.Name, s.mode.name, count, len(jobs))
		}
		pause(s.ctx, look)
	}
	time.Sleep(linger)
	return nil
}

// pause waits, or returns early if the context ends.
func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
