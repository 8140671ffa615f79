package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os/exec"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-io/carillon/bench/history"
)

// rig is the cluster under test with all that is around it. The goroutine of main owns it. Whatever the clients and
// the sink share with it is in rec, which is safe for concurrent use.
type rig struct {
	opts     options
	dir      string
	progress io.Writer
	// Its stream of numbers is not that of the load, so that another number of clients does not change the faults.
	rng     *rand.Rand // of the faults
	rec     *history.Recorder
	net     *network
	cluster *cluster
	// if not, the scenario that fills a disk is left out
	smallDisks bool         // the data directories are file systems of their own
	conn       *nats.Conn   // of the readers, and of the sink
	admin      *nats.Conn   // of the streams of a guarded cluster; else nil
	pinned     []*nats.Conn // of the sink, one to each server; none on loopback
	// streams asks through conn, which is never cut.
	streams streams
	sink    *history.Sink
	// api reads the final state; it is not a client of the load.
	api      *history.Caller
	clients  sync.WaitGroup
	stopLoad context.CancelFunc
	glimpsed []uint64 // LSN by shard, up to which the logs were read for their epochs
}

// newRig builds everything up to a cluster under load. After an error the rig has what was built so far; the caller
// calls close in any case.
func newRig(ctx context.Context, opts options, dir string, progress io.Writer) (*rig, error) {
	r := &rig{
		opts: opts, dir: dir, progress: progress, rng: rand.New(rand.NewPCG(opts.seed, 1<<33)),
		rec: &history.Recorder{}, net: &network{}, cluster: &cluster{}, stopLoad: func() {}, glimpsed: make([]uint64, opts.shards),
	}
	r.makeDisks()
	net, err := openNetwork(opts.network, opts.seed, progress)
	if err != nil {
		return r, err
	}
	r.net = net
	began := history.Now()
	if r.cluster, err = startCluster(net, opts, dir); err != nil {
		return r, err
	}
	fmt.Fprintf(progress, "the cluster is up after %s\n", history.Now().Sub(began).Round(time.Millisecond))
	if err := r.connect(ctx); err != nil {
		return r, err
	}
	if err := r.noteLeaders(ctx, began, make([]office, opts.shards), r.allShards(), serveWait); err != nil {
		return r, err
	}
	if err := r.startClients(ctx); err != nil || opts.shards == 1 {
		return r, err
	}
	return r, r.awaitCalm(ctx) // the first node that was ready leads all shards
}

// connect joins the sink and the readers to the cluster.
func (r *rig) connect(ctx context.Context) error {
	var err error
	if r.conn, err = r.dial(r.cluster.urls, "failover sink"); err != nil {
		return err
	}
	r.api, r.streams = history.NewCaller(r.conn), streams{r.conn}
	if r.cluster.access != nil { // the streams of Carillon are in its own account
		if r.admin, err = connect(r.net.observer, r.cluster.urls, "failover admin", r.cluster.access.options(rootToken)...); err != nil {
			return err
		}
		r.streams = streams{r.admin}
	}
	if err := r.pin(); err != nil {
		return err
	}
	l, err := r.net.observer.listen()
	if err != nil {
		return err
	}
	if r.sink, err = history.StartSink(r.rec, r.opts.seed, l, append([]*nats.Conn{r.conn}, r.pinned...)...); err != nil {
		return err
	}
	return until(ctx, healWait, func() error { return r.sink.OpenStream(ctx, members) })
}

// pin connects the sink to each server on its own, so that it sees what a server delivers that the others cannot
// reach. With one connection the sink would lose its own server together with the leader's, and see nothing of what
// the old leader still launches.
func (r *rig) pin() error {
	if r.net.lan == nil {
		return nil
	}
	for i := range r.cluster.addresses {
		conn, err := r.dial(r.serverURL(i), "failover sink")
		if err != nil {
			return err
		}
		r.pinned = append(r.pinned, conn)
	}
	return nil
}

// serverURL returns the way to one server. On loopback it is the way to all of them.
func (r *rig) serverURL(i int) string {
	if r.net.lan == nil {
		return r.cluster.urls
	}
	return urlsOf(r.cluster.addresses[i%members : i%members+1])
}

// connect returns a connection that notices soon when its server has died, or has been paused, and goes to another of
// those that it was given. It ignores the servers that NATS advertises, so that a pinned connection stays with its
// server.
func connect(from site, urls, name string, more ...nats.Option) (*nats.Conn, error) {
	return history.Connect(urls, name, append([]nats.Option{
		nats.SetCustomDialer(from), nats.IgnoreDiscoveredServers(),
		nats.Timeout(time.Second), nats.PingInterval(time.Second), nats.MaxPingsOutstanding(2),
	}, more...)...)
}

// dial connects a client of the load, or the sink.
func (r *rig) dial(urls, name string) (*nats.Conn, error) {
	return connect(r.net.observer, urls, name, r.cluster.access.options(loadToken)...)
}

// steadyJobs is how many jobs of each client tick from begin to end, for the lateness. With four clients that is about
// a hundred ticks a second, which shows a gap of service to 10 ms.
const steadyJobs = 6

// startClients starts the load. The first client also puts the jobs with the overlap policies, one for each.
func (r *rig) startClients(ctx context.Context) error {
	ctx, r.stopLoad = context.WithCancel(ctx)
	for i := range r.opts.clients {
		conn, err := r.dial(r.serverURL(i), fmt.Sprintf("failover client %d", i))
		if err != nil {
			return err
		}
		c := history.NewClient(i, r.opts.seed, history.NewCaller(conn), r.rec, r.sink.Targets())
		r.clients.Go(func() {
			defer conn.Close()
			c.PutSteady(ctx, steadyJobs)
			if i == 0 {
				c.PutPolicies(ctx)
			}
			c.Run(ctx)
		})
	}
	if r.opts.shards == 1 {
		return nil
	}
	for shard := range r.opts.shards {
		if err := r.startPaced(ctx, shard); err != nil {
			return err
		}
	}
	return nil
}

// pacedEvery is the pause between two registrations in each shard. The put gap of a shard is this coarse.
const pacedEvery = 40 * time.Millisecond

// pacedSteady is how many jobs tick in each shard from begin to end, so that each shard has a launch soon after a
// takeover.
const pacedSteady = 2

// startPaced starts a client that registers jobs of one shard at a steady pace, whatever becomes of those before. The
// other clients wait for each answer, so that a shard without a leader would hold up the registrations of all shards.
func (r *rig) startPaced(ctx context.Context, shard int) error {
	id := r.opts.clients + shard
	conn, err := r.dial(r.cluster.urls, fmt.Sprintf("failover client %d", id))
	if err != nil {
		return err
	}
	c := history.NewClient(id, r.opts.seed, history.NewCaller(conn), r.rec, r.sink.Targets())
	c.Keep(shard, r.opts.shards)
	r.clients.Go(func() {
		defer conn.Close()
		c.PutSteady(ctx, pacedSteady)
		c.PutSkipping(ctx)
		c.Pace(ctx, pacedEvery)
	})
	return nil
}

// allShards returns the numbers of all shards.
func (r *rig) allShards() []int {
	all := make([]int, r.opts.shards)
	for i := range all {
		all[i] = i
	}
	return all
}

// noteLeaders waits until each of some shards has a leader of a higher epoch than before, and records their reigns. They
// began to be waited for at some instant, and are waited for so long at most.
func (r *rig) noteLeaders(ctx context.Context, began history.Instant, before []office, shards []int, most time.Duration) error {
	var all []office
	err := untilEvery(ctx, r.cluster.askEvery(), most, func() (err error) {
		if all, err = r.cluster.offices(); err != nil {
			return err
		}
		for _, shard := range shards {
			if o := all[shard]; o.epoch <= before[shard].epoch {
				return fmt.Errorf("the leader of shard %d is still that of epoch %d", shard, o.epoch)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, shard := range shards {
		r.rec.Rise(history.Start{Began: began, Ready: history.Now(), Epoch: all[shard].epoch, Shard: shard})
		r.rec.Read(history.Reading{At: history.Now(), LSN: all[shard].lsn, Shard: shard})
	}
	return nil
}

// command runs the program under test with arguments, and returns what it complains of. It runs on the host of the
// observer, whose links are whole.
func (r *rig) command(ctx context.Context, args ...string) error {
	ctx, cancel := context.WithTimeout(ctx, serveWait)
	defer cancel()
	cmd := exec.CommandContext(ctx, r.opts.binary, args...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := r.net.observer.start(cmd)
	if err == nil {
		err = cmd.Wait()
	}
	if err != nil {
		return fmt.Errorf("carillon %s: %w\n%s", args[0], err, out.Bytes())
	}
	return nil
}

// history returns what was recorded so far.
func (r *rig) history() *history.History {
	h := r.rec.Snapshot()
	h.Cluster, h.Shards = true, r.opts.shards
	h.Lossy = map[string]bool{"nats": true} // a plain publish has no subscriber while the sink has lost its server
	return h
}

// close takes everything down that still stands. It may be called after any failure of newRig. The network goes last,
// because the others need it to end.
func (r *rig) close() {
	r.stopLoad()
	r.clients.Wait()
	r.cluster.close()
	if r.sink != nil {
		r.sink.Close()
	}
	for _, conn := range append(r.pinned, r.conn, r.admin) {
		if conn != nil {
			conn.Close()
		}
	}
	r.net.close()
}
