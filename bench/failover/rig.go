package main

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os/exec"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-io/carillon/bench/crash/history"
)

// rig is the cluster under test with all that is around it.
type rig struct {
	opts       options
	dir        string
	progress   io.Writer
	rng        *rand.Rand // of the faults
	rec        *history.Recorder
	cluster    *cluster
	smallDisks bool       // the data directories are file systems of their own
	conn       *nats.Conn // of the sink and the readers
	streams    streams
	sink       *history.Sink
	api        *history.Caller
	clients    sync.WaitGroup
	stopLoad   context.CancelFunc
}

// newRig builds everything up to a cluster under load.
func newRig(ctx context.Context, opts options, dir string, progress io.Writer) (*rig, error) {
	r := &rig{
		opts: opts, dir: dir, progress: progress, rng: rand.New(rand.NewPCG(opts.seed, 1<<33)),
		rec: &history.Recorder{}, cluster: &cluster{}, stopLoad: func() {},
	}
	r.makeDisks()
	began := history.Now()
	var err error
	if r.cluster, err = startCluster(opts.topology, opts.binary, dir); err != nil {
		return r, err
	}
	fmt.Fprintf(progress, "the cluster is up after %s\n", history.Now().Sub(began).Round(time.Millisecond))
	if err := r.connect(ctx); err != nil {
		return r, err
	}
	if err := r.noteLeader(ctx, began, 0); err != nil {
		return r, err
	}
	return r, r.startClients(ctx)
}

// connect joins the sink and the readers to the cluster.
func (r *rig) connect(ctx context.Context) error {
	var err error
	if r.conn, err = connect(r.cluster.urls, "failover sink"); err != nil {
		return err
	}
	r.api, r.streams = history.NewCaller(r.conn), streams{r.conn}
	if r.sink, err = history.StartSink(r.rec, r.conn, r.opts.seed); err != nil {
		return err
	}
	return until(ctx, healWait, func() error { return r.sink.OpenStream(ctx, members) })
}

// connect returns a connection that notices soon when its server has died, or has been paused, and goes to
// another.
func connect(urls, name string) (*nats.Conn, error) {
	return history.Connect(urls, name, nats.Timeout(time.Second), nats.PingInterval(time.Second), nats.MaxPingsOutstanding(2))
}

// steadyJobs is how many jobs of each client tick from begin to end, for the lateness.
const steadyJobs = 6

func (r *rig) startClients(ctx context.Context) error {
	ctx, r.stopLoad = context.WithCancel(ctx)
	for i := range r.opts.clients {
		conn, err := connect(r.cluster.urls, fmt.Sprintf("failover client %d", i))
		if err != nil {
			return err
		}
		c := history.NewClient(i, r.opts.seed, history.NewCaller(conn), r.rec, r.sink.Targets())
		r.clients.Go(func() {
			defer conn.Close()
			c.PutSteady(ctx, steadyJobs)
			c.Run(ctx)
		})
	}
	return nil
}

// noteLeader waits for a leader of a higher epoch than one, and records its reign. It began to be waited
// for at some instant.
func (r *rig) noteLeader(ctx context.Context, began history.Instant, above uint64) error {
	var s nodeStatus
	err := until(ctx, serveWait, func() (err error) {
		if _, s, err = r.cluster.leader(); err == nil && s.Epoch <= above {
			err = fmt.Errorf("the leader is still that of epoch %d", s.Epoch)
		}
		return err
	})
	if err == nil {
		r.rec.Rise(history.Start{Began: began, Ready: history.Now(), Epoch: s.Epoch})
		r.rec.Read(history.Reading{At: history.Now(), LSN: s.LSN})
	}
	return err
}

// command runs the program under test with arguments, and returns what it complains of.
func (r *rig) command(ctx context.Context, args ...string) error {
	ctx, cancel := context.WithTimeout(ctx, serveWait)
	defer cancel()
	out, err := exec.CommandContext(ctx, r.opts.binary, args...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("carillon %s: %w\n%s", args[0], err, out)
	}
	return nil
}

// history returns what was recorded so far.
func (r *rig) history() *history.History {
	h := r.rec.Snapshot()
	h.Cluster = true
	h.Lossy = map[string]bool{"nats": true} // a plain publish reaches nobody while the sink has lost its server
	return h
}

// close takes everything down that still stands.
func (r *rig) close() {
	r.stopLoad()
	r.clients.Wait()
	r.cluster.close()
	if r.sink != nil {
		r.sink.Close()
	}
	if r.conn != nil {
		r.conn.Close()
	}
}
