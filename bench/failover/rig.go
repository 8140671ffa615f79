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
	glimpsed uint64 // LSN up to which the logs were read for their epochs
}

// newRig builds everything up to a cluster under load. After an error the rig has what was built so far; the caller
// calls close in any case.
func newRig(ctx context.Context, opts options, dir string, progress io.Writer) (*rig, error) {
	r := &rig{
		opts: opts, dir: dir, progress: progress, rng: rand.New(rand.NewPCG(opts.seed, 1<<33)),
		rec: &history.Recorder{}, net: &network{}, cluster: &cluster{}, stopLoad: func() {},
	}
	r.makeDisks()
	net, err := openNetwork(opts.network, opts.seed, progress)
	if err != nil {
		return r, err
	}
	r.net = net
	began := history.Now()
	if r.cluster, err = startCluster(net, opts.topology, opts.binary, dir); err != nil {
		return r, err
	}
	fmt.Fprintf(progress, "the cluster is up after %s\n", history.Now().Sub(began).Round(time.Millisecond))
	if err := r.connect(ctx); err != nil {
		return r, err
	}
	if err := r.noteLeader(ctx, began, 0, serveWait); err != nil {
		return r, err
	}
	return r, r.startClients(ctx)
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
	return nil
}

// noteLeader waits for a leader of a higher epoch than one, and records its reign. It began to be waited
// for at some instant, and is waited for so long at most.
func (r *rig) noteLeader(ctx context.Context, began history.Instant, above uint64, most time.Duration) error {
	var s nodeStatus
	err := until(ctx, most, func() (err error) {
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
	h.Cluster = true
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
