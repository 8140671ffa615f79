package bench

import (
	"bytes"
	"context"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/carillon-io/carillon/client"
)

// loadCmd registers many jobs and measures the memory and the disk that they take. Jobs are put in bulk, as an
// import does, with several requests under way.
type loadCmd struct {
	Count int `help:"Jobs to register." default:"1000000"`
}

// Validate refuses sizes that make no sense.
func (c *loadCmd) Validate() error { return within("count", c.Count, 1, armedMax) }

func (c *loadCmd) measure(s *stand) []*result {
	r, loaded := loadBulk(s, c.Count)
	if loaded != nil {
		if err := loaded.close(); err != nil {
			r.breaks("%v", err)
		}
	}
	return []*result{s.show(r)}
}

// loaded is a running server with many jobs. Workloads that need many jobs share it, because loading takes longer than
// measuring.
type loaded struct {
	// server is replaced by a recovery; client then too.
	server *server
	client *client.Client
	load   *bulkLoad
	jobs   int // on the server
}

// close closes the client and ends the server.
func (l *loaded) close() error {
	l.client.Close()
	return l.server.stop()
}

// idleWait is how long a server has no requests before its memory is measured. The server's collector and the
// compaction of its store go on for a while after a load.
const idleWait = 10 * time.Second

// loadBulk registers jobs on an empty server. After a failure the returned server is nil.
func loadBulk(s *stand, count int) (*result, *loaded) {
	r := &result{Name: "load"}
	if err := s.demand(count); err != nil {
		r.breaks("%v", err)
		return r, nil
	}
	r.Setting = fmt.Sprintf("%d jobs by jobs.put_many: 60 %% one-shots, 20 %% @every, 20 %% cron in %d zones", count, len(zones))
	srv, cl, err := s.start("load")
	if err != nil {
		r.breaks("%v", err)
		return r, nil
	}
	empty, _ := srv.memory()
	written := writtenBytes(srv.cmd.Process.Pid)
	l := &loaded{server: srv, client: cl, load: newBulkLoad(s, count)}
	m := startMeter(srv.cmd.Process.Pid)
	err = l.load.run(cl)
	m.stop()
	// What was acknowledged is told also after a failure.
	l.load.tell(r)
	m.tell(r)
	m.tellEach(r, "job", l.load.accepted)
	if err != nil {
		if s.ctx.Err() == nil {
			r.breaks("%v", err)
		}
		srv.kill()
		return r, nil
	}
	if wrote := writtenBytes(srv.cmd.Process.Pid) - written; wrote > 0 && l.load.bytes > 0 {
		r.add("written_bytes_per_job", "written to disk a job", wrote/float64(l.load.accepted), "B")
		r.add("write_amplification", "times what names, schedules and payloads have", wrote/float64(l.load.bytes), "")
	}
	if err := l.load.tellBare(r); err != nil {
		r.breaks("%v", err)
	}
	s.say("load: loaded; leaving the server alone for %s", idleWait)
	s.wait(idleWait)
	l.weigh(r, empty)
	if err := l.verify(s, r); err != nil {
		r.breaks("%v", err)
	}
	return r, l
}

// weigh adds the memory and the disk that the jobs take. empty is the memory of a server without jobs.
func (l *loaded) weigh(r *result, empty float64) {
	const mib = 1 << 20
	jobs := float64(l.load.accepted)
	resident, anonymous := l.server.memory()
	r.add("rss_mib", "resident memory, idle", resident/mib, "MiB")
	r.add("anonymous_mib", "of it, not backed by a file", anonymous/mib, "MiB")
	r.add("rss_bytes_per_job", "resident bytes a job, over an empty server", (resident-empty)/jobs, "B")
	if disk, err := l.server.disk(); err != nil {
		r.breaks("measure the data directory: %v", err)
	} else {
		r.add("disk_mib", "on disk", disk/mib, "MiB")
		r.add("disk_bytes_per_job", "bytes on disk a job", disk/jobs, "B")
	}
}

// verifySample is the number of jobs that are read back and compared. Reading back all of them would take longer than
// the load.
const verifySample = 1000

// verify checks that the server has as many jobs as it accepted, and that a sample of them is as it was put. It runs
// after the load and again after a recovery, with the same expectations.
func (l *loaded) verify(s *stand, r *result) error {
	ctx, cancel := s.asking()
	defer cancel()
	st, err := l.client.Status(ctx)
	if err != nil {
		return fmt.Errorf("status: %w", err)
	}
	// Later the server has further jobs, which recover adds to the number.
	if l.jobs == 0 {
		l.jobs = l.load.accepted
	}
	if st.Jobs != l.jobs {
		r.breaks("%d jobs were accepted, the server has %d", l.jobs, st.Jobs)
	}
	return l.load.compare(ctx, l.client, r)
}

// bulkLoad registers a number of jobs and counts the results. For one goroutine: the client calls back on the
// goroutine of run.
type bulkLoad struct {
	stand *stand
	first int // number of its first job in the mix
	count int
	mix   mix
	// accepted counts what was acknowledged. Each of these jobs must be there from then on.
	accepted int
	// It is what a caller would call the size of its data, which the bytes on disk are compared with.
	bytes   int           // total size of names, schedules, zones and payloads
	refusal *client.Error // the first rejection
	// took is from the first request to the last answer.
	took    time.Duration
	seconds []int // jobs acknowledged in each second
}

// newBulkLoad returns a load that begins with the first job of the mix. The time of its making is part of the jobs,
// so it can compare what it put itself and nothing else.
func newBulkLoad(s *stand, count int) *bulkLoad {
	return &bulkLoad{stand: s, count: count, mix: mix{seed: s.seed, begin: time.Now()}}
}

// run registers the jobs, with several requests under way at a time.
func (l *bulkLoad) run(cl *client.Client) error {
	began := time.Now()
	said := began
	totals, err := cl.PutAll(l.stand.ctx, l.jobs(), func(p client.PutResult) {
		if p.Error != nil {
			if l.refusal == nil {
				l.refusal = p.Error
			}
			return
		}
		l.accepted++
		second := int(time.Since(began) / time.Second)
		for len(l.seconds) <= second {
			l.seconds = append(l.seconds, 0)
		}
		l.seconds[second]++
		if time.Since(said) > 2*time.Second {
			said = time.Now()
			l.stand.say("load: %d of %d jobs, %.0f/s", l.accepted, l.count, float64(l.accepted)/time.Since(began).Seconds())
		}
	})
	l.took = time.Since(began)
	if err == nil && l.refusal != nil {
		err = fmt.Errorf("%d jobs were rejected, the first with: %w", totals.Rejected, l.refusal)
	}
	return err
}

// jobs returns the jobs of the load, generated one at a time, so that the harness never holds all of
// them.
func (l *bulkLoad) jobs() iter.Seq[client.Job] {
	return func(yield func(client.Job) bool) {
		for n := range l.count {
			j := l.mix.job(l.first + n)
			l.bytes += len(j.Name) + len(j.Schedule) + len(j.Timezone) + len(j.Payload)
			if !yield(j) {
				return
			}
		}
	}
}

// tell adds the rates of the load. It ignores the last second, which is not a full one. The slowest second shows a
// stall that an average hides.
func (l *bulkLoad) tell(r *result) {
	r.count("accepted", "accepted", l.accepted)
	r.add("seconds", "took", l.took.Seconds(), "s")
	r.add("per_second", "accepted a second", float64(l.accepted)/l.took.Seconds(), "/s")
	if n := len(l.seconds); n > 1 {
		r.count("slowest_second", "in the slowest second", slices.Min(l.seconds[:n-1]))
	}
}

// compare checks that a sample of the jobs is as it was put.
func (l *bulkLoad) compare(ctx context.Context, cl *client.Client, r *result) error {
	rng := rand.New(rand.NewPCG(l.stand.seed, 2))
	for range min(verifySample, l.count) {
		want := l.mix.job(l.first + rng.IntN(l.count))
		got, err := cl.Get(ctx, want.Name)
		if err != nil {
			return fmt.Errorf("get %s: %w", want.Name, err)
		}
		isSame := got.Schedule == want.Schedule && got.Timezone == want.Timezone &&
			bytes.Equal(got.Payload, want.Payload) && got.Labels["customer"] == want.Labels["customer"]
		if !isSame {
			r.breaks("job %s is %q in %q, was put as %q in %q", want.Name, got.Schedule, got.Timezone, want.Schedule, want.Timezone)
		}
		if got.NextRunAt.IsZero() {
			r.breaks("job %s (%s) will never run", want.Name, got.Schedule)
		}
	}
	return nil
}
