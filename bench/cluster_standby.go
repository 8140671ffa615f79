package bench

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/carillon-io/carillon/client"
)

// apply measures how fast the standby applies commits: while it follows the leader, and when it comes back after an
// absence. The single server is stopped first, so that it does not compete for the cores.
func (n *contest) apply(r *result) error {
	if err := n.alone.stop(); err != nil { // its measurements are complete
		return err
	}
	before, err := n.cluster.leader.status(n.stand.ctx)
	if err != nil {
		return err
	}
	load, err := n.loadBeside(r)
	if err != nil || n.stand.ctx.Err() != nil {
		return err
	}
	// SIGKILL, so that the standby comes back with whatever its log had by then.
	n.cluster.standby.kill()
	if n.row, err = n.stand.countRows(n.cluster.standby.dir, before.LSN+1); err != nil {
		return err
	}
	r.add("rows_per_job", fmt.Sprintf("rows a job, counted in its log over %d commits", n.row.commits), n.row.perJob(), "")
	behind, err := n.loadBehind(r)
	if err != nil || n.stand.ctx.Err() != nil {
		return err
	}
	if err := n.tail(r, behind); err != nil {
		return err
	}
	return errors.Join(n.cluster.sameJobs(n.stand, r), n.readBack(r, load))
}

// loadMix loads further jobs of the mix, and checks that the leader has them.
func (n *contest) loadMix(r *result, count int) (*bulkLoad, error) {
	before, err := n.cluster.leader.status(n.stand.ctx)
	if err != nil {
		return nil, err
	}
	load := newBulkLoad(n.stand, count)
	load.first = n.loaded
	if err := load.run(n.cluster.client); err != nil {
		return nil, fmt.Errorf("load %d jobs: %w", count, err)
	}
	n.loaded += count
	after, err := n.cluster.leader.status(n.stand.ctx)
	if err == nil && after.Jobs != before.Jobs+load.accepted {
		r.breaks("the leader had %d jobs, has accepted %d more, and has %d", before.Jobs, load.accepted, after.Jobs)
	}
	return load, err
}

// loadBeside runs a bulk load while the standby follows.
func (n *contest) loadBeside(r *result) (*bulkLoad, error) {
	m := n.foreign()
	watch := n.cluster.watchLag(n.stand.ctx)
	load, err := n.loadMix(r, n.Load)
	ended := time.Now()
	if err == nil {
		// The lag is watched until both nodes are level, because it can be greatest at the end of the load.
		err = n.cluster.level(n.stand, nil)
	}
	level := time.Since(ended)
	lag := watch()
	m.stop()
	if err != nil {
		return nil, err
	}
	r.add("load_per_second", "jobs a second, with the standby there", float64(load.accepted)/load.took.Seconds(), "/s")
	r.add("load_commits_per_second", "commits a second", float64(lag.commits)/load.took.Seconds(), "/s")
	r.add("lag_commits", "the standby's greatest lag, as it says", float64(lag.said), "commits")
	r.add("lag_seen_commits", "the same, by asking both", float64(lag.seen), "commits")
	r.add("level_ms", "level after the last answer", millis(level), "ms")
	m.tellForeign(r)
	return load, n.cluster.sameJobs(n.stand, r)
}

// lag says how far a standby was behind during a load. Two views, because each misses something: the reported one is
// old, the other is read at two instants.
type lag struct {
	said    uint64 // largest lag that the standby reported, which is up to a quarter of a second old
	seen    uint64 // largest difference between the LSNs of both nodes, asked one after the other
	commits uint64 // commits of the leader meanwhile
}

// watchLag polls both nodes until the function that it returns is called, which returns the largest lag. The function
// that it returns must be called once.
func (t *trio) watchLag(ctx context.Context) (stop func() lag) {
	const every = 20 * time.Millisecond
	ctx, cancel := context.WithCancel(ctx)
	found := make(chan lag)
	go func() {
		var l lag
		var first uint64
		for ctx.Err() == nil {
			standby, err := t.standby.status(ctx)
			leader, errLeader := t.leader.status(ctx)
			if err == nil && errLeader == nil {
				// Commits are counted from the first answer of both nodes on.
				if first == 0 {
					first = leader.LSN
				}
				l.said = max(l.said, standby.Cluster.Lag)
				l.seen = max(l.seen, leader.LSN-min(leader.LSN, standby.AppliedLSN))
				l.commits = leader.LSN - first
			}
			select {
			case <-ctx.Done():
			case <-time.After(every):
			}
		}
		found <- l
	}()
	return func() lag {
		cancel()
		return <-found
	}
}

// missed is the number of commits and jobs that a standby missed while it was stopped. The rows are estimated from
// the jobs, because counting them would read the whole log.
type missed struct {
	jobs    int
	commits uint64
}

// loadBehind runs a bulk load while the standby is stopped. If the standby's NATS server led the stream,
// NATS first elects another leader of the stream, and commits wait for that.
func (n *contest) loadBehind(r *result) (missed, error) {
	before, err := n.cluster.leader.status(n.stand.ctx)
	if err != nil {
		return missed{}, err
	}
	began := time.Now()
	// One registration alone shows how long commits wait for the other NATS servers.
	if _, _, err := n.cluster.client.Put(n.stand.ctx, farJob("after-kill", 0)); err != nil {
		return missed{}, fmt.Errorf("the first registration without the standby: %w", err)
	}
	r.add("first_without_ms", "the first registration without it", millis(time.Since(began)), "ms")
	load, err := n.loadMix(r, n.Load)
	if err != nil {
		return missed{}, err
	}
	after, err := n.cluster.leader.status(n.stand.ctx)
	r.add("load_without_per_second", "jobs a second, with the standby gone", float64(load.accepted)/load.took.Seconds(), "/s")
	return missed{load.accepted, after.LSN - before.LSN}, err
}

// tail starts the standby again and measures the time until it is level. It measures from the first step of the
// standby on as well, because its start includes the recovery of its own log.
func (n *contest) tail(r *result, gone missed) error {
	n.stand.say("standby: starting again, %d commits behind", gone.commits)
	began := time.Now()
	if err := n.cluster.standby.launch(n.stand); err != nil {
		return err
	}
	var answered, moving time.Time
	var first uint64
	err := n.cluster.level(n.stand, func(st client.Status) {
		if answered.IsZero() {
			answered, first = time.Now(), st.AppliedLSN
		}
		// The last poll before the first change is taken as the beginning of the work.
		if st.AppliedLSN == first {
			moving = time.Now() // the standby has not begun to apply
		}
	})
	level := time.Now()
	if err == nil {
		err = n.cluster.standby.awaitReady(readyWait)
	}
	if err != nil {
		return err
	}
	total, tailing := level.Sub(began).Seconds(), level.Sub(moving).Seconds()
	rows := float64(gone.jobs) * n.row.perJob()
	r.add("missed_commits", "commits that it missed", float64(gone.commits), "")
	r.add("missed_rows", "rows in them, estimated by rows a job", rows, "")
	r.add("answers_s", "from its start to its first answer", answered.Sub(began).Seconds(), "s")
	r.add("tailing_s", "from its first step to level", tailing, "s")
	r.add("start_to_level_s", "from its start to level", total, "s")
	r.add("tail_commits_per_second", "commits a second, from its first step on", float64(gone.commits)/tailing, "/s")
	r.add("tail_jobs_per_second", "jobs a second", float64(gone.jobs)/tailing, "/s")
	r.add("tail_rows_per_second", "rows a second", rows/tailing, "/s")
	r.add("start_rows_per_second", "rows a second, its start included", rows/total, "/s")
	r.add("goal_rows_per_second", "goal, at least", rowsGoal, "/s")
	return nil
}

// A standby that applies more slowly than a leader commits never catches up.
const rowsGoal = 100_000

// readBack checks that the standby returns jobs as they were put.
func (n *contest) readBack(r *result, load *bulkLoad) error {
	cl, err := client.Connect(n.cluster.leader.ready.NATS, client.Options{Standby: true})
	if err != nil {
		return err
	}
	defer cl.Close()
	ctx, cancel := n.stand.asking()
	defer cancel()
	return load.compare(ctx, cl, r)
}
