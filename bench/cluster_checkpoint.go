package bench

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-io/carillon/client"
)

// The durations of the part with the checkpoint.
const (
	calmTime = 10 * time.Second // time of firing before the standby starts
	joinTime = 2 * time.Minute  // longest time of firing after that; lateness during the rest of a longer joining is not measured
)

// logStream is the name of the stream that carries the cluster's log. It is written here and not imported: the harness
// knows the product from outside.
const logStream = "CARILLON_LOG_carillon_0"

// The goals for a million jobs.
const (
	// Goals are printed beside the figures and do not decide the exit status: they depend on the machine.
	joinGoal         = 30 * time.Second
	joinLatenessGoal = 20 * time.Millisecond
)

// checkpoint measures how long a standby without data takes to join, and the lateness of runs meanwhile. The jobs that
// are missing to --count are loaded first, so that the size of the checkpoint is the wanted one.
func (n *contest) checkpoint(r *result) error {
	if err := n.forgetStandby(); err != nil {
		return err
	}
	st, err := n.cluster.leader.status(n.stand.ctx)
	if err != nil {
		return err
	}
	var load *bulkLoad
	if more := n.Count - st.Jobs; more > 0 {
		// The standby is stopped, so the load is not slowed by it.
		if load, err = n.loadMix(r, more); err != nil {
			return err
		}
		st.Jobs += more
	}
	if err := n.emptyStream(); err != nil {
		return err
	}
	n.stand.wait(idleWait)
	r.count("jobs", "jobs of the cluster", st.Jobs)
	m := startMeter(n.cluster.leader.cmd.Process.Pid, n.cluster.witness.cmd.Process.Pid)
	if err := n.joinUnderFire(r); err != nil {
		return err
	}
	const mib = 1 << 20
	disk, err := n.cluster.standby.disk()
	if err != nil {
		return err
	}
	r.add("standby_disk_mib", "its data directory then, with its share of NATS", disk/mib, "MiB")
	m.others = append(m.others, n.cluster.standby.cmd.Process.Pid) // it did not run when the meter started
	// The meter is read while both processes run.
	m.stop()
	m.tell(r)
	err = n.cluster.sameJobs(n.stand, r)
	if err == nil && load != nil {
		err = n.readBack(r, load)
	}
	return err
}

// forgetStandby stops the standby and removes all that it has, save the data of its NATS server. So it joins like a new node
// of the same name, whose NATS member need not be replaced.
func (n *contest) forgetStandby() error {
	if err := n.cluster.standby.stop(); err != nil {
		return err
	}
	entries, err := os.ReadDir(n.cluster.standby.dir)
	for _, entry := range entries {
		if entry.Name() != "nats" {
			err = errors.Join(err, os.RemoveAll(filepath.Join(n.cluster.standby.dir, entry.Name())))
		}
	}
	return err
}

// emptyStream removes all frames from the stream, so that the standby needs a checkpoint. Without it the standby
// would read what it lacks from the stream, and ask for no checkpoint.
func (n *contest) emptyStream() error {
	nc, err := nats.Connect(n.cluster.leader.ready.NATS, nats.Name("bench"))
	if err != nil {
		return err
	}
	defer nc.Close()
	js, err := jetstream.New(nc)
	if err != nil {
		return err
	}
	ctx, cancel := n.stand.asking()
	defer cancel()
	stream, err := js.Stream(ctx, logStream)
	if err == nil {
		err = stream.Purge(ctx)
	}
	if err != nil {
		return fmt.Errorf("empty the stream %s: %w", logStream, err)
	}
	return nil
}

// joinUnderFire starts the standby while jobs fire.
func (n *contest) joinUnderFire(r *result) error {
	fires := n.fires("join-")
	fires.For = calmTime + joinTime
	recv, err := n.stand.startReceiver(n.cluster.leader.ready.NATS, fireSubject)
	if err != nil {
		return err
	}
	w, err := fires.register(n.stand, n.cluster.client)
	if err != nil {
		return err
	}
	n.stand.wait(time.Until(w.from.Add(calmTime)))
	join, err := n.join(r)
	if err != nil {
		return err
	}
	n.stand.wait(settleWait)
	// What fires after the joining says nothing about it.
	w.cut(join.to)
	receipts, err := recv.collect()
	if err != nil {
		return err
	}
	join.tell(r, w, receipts)
	return nil
}

// span is the time during which a standby joins.
type span struct{ from, to time.Time }

// join starts the standby and returns when it is level and reports the role standby. A standby that became level
// without a checkpoint makes the figures worthless, so it is an error.
func (n *contest) join(r *result) (join span, err error) {
	n.stand.say("checkpoint: starting the standby without its data")
	join.from = time.Now()
	if err := n.cluster.standby.launch(n.stand); err != nil {
		return join, err
	}
	var joining time.Time
	err = n.cluster.level(n.stand, func(st client.Status) {
		if st.Role == "joining" && joining.IsZero() {
			joining = time.Now()
		}
	})
	if err == nil {
		err = n.cluster.standby.awaitReady(readyWait)
	}
	join.to = time.Now()
	if err == nil && joining.IsZero() {
		err = errors.New("the standby was level without a checkpoint, so nothing was measured")
	}
	if err != nil {
		return join, err
	}
	r.add("join_s", "from the start of the standby to level", join.to.Sub(join.from).Seconds(), "s")
	r.add("join_goal_s", "goal for a million jobs, at most", joinGoal.Seconds(), "s")
	r.add("asked_s", "of it, until it asks for the checkpoint", joining.Sub(join.from).Seconds(), "s")
	return join, nil
}

// tell adds the lateness of runs before and during the joining to the result.
func (j span) tell(r *result, w *window, receipts []receipt) {
	all := w.judge(receipts)
	before, during := *w, *w
	before.cut(j.from)
	// Both windows are copies, and share the due times.
	during.from = j.from
	r.spread("before", "lateness before", before.judge(receipts).all)
	r.spread("during", "lateness while it joined", during.judge(receipts).all)
	r.add("during_goal_p99_ms", "goal for the p99 of it, at most", millis(joinLatenessGoal), "ms")
	r.count("received", "received in all", len(all.all))
	all.tellBroken(r)
}
