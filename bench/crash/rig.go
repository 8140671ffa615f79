package main

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"path/filepath"
	"sync"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/carillon-io/carillon/bench/history"
	"github.com/carillon-io/carillon/bench/kit"
)

// rig is the server under test with everything around it: clients, sink, NATS and recorder. The goroutine of main owns
// it.
type rig struct {
	opts     options
	dir      string
	progress io.Writer
	rng      *rand.Rand // decides about the deaths
	rec      *history.Recorder
	launcher *launcher
	// proc is the present or the last process; nil before the first.
	proc   *process
	broker *server.Server // nil if the server under test embeds NATS
	conn   *nats.Conn     // for the sink and for reads
	sink   *history.Sink
	// api is for the reads of the rig; each client has a caller of its own.
	api     *history.Caller
	clients sync.WaitGroup
	// ends the clients; never nil
	stopLoad context.CancelFunc
}

// newRig starts everything, including the first process of the server. After an error the rig has what was started so
// far; the caller calls close in any case.
func newRig(ctx context.Context, opts options, dir string, progress io.Writer) (*rig, error) {
	r := &rig{
		opts: opts, dir: dir, progress: progress, rng: rand.New(rand.NewPCG(opts.seed, 1<<32)),
		rec: &history.Recorder{}, stopLoad: func() {},
	}
	url, err := r.prepare()
	if err != nil {
		return r, err
	}
	// The server comes first: with embedded NATS there is nothing to connect to before.
	if err := r.rise(); err != nil {
		return r, err
	}
	if r.conn, err = history.Connect(url, "crash sink"); err != nil {
		return r, err
	}
	r.api = history.NewCaller(r.conn)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return r, err
	}
	if r.sink, err = history.StartSink(r.rec, opts.seed, l, r.conn); err != nil {
		return r, err
	}
	if err := r.sink.OpenStream(ctx, 1); err != nil {
		return r, err
	}
	return r, r.startClients(ctx, url)
}

// prepare starts NATS, unless the server embeds it, and returns its URL.
func (r *rig) prepare() (string, error) {
	l := &launcher{binary: r.opts.binary, dir: r.dir}
	l.args = []string{"--http-listen", "127.0.0.1:0", "--allow-private-targets"}
	r.launcher = l
	if r.opts.embedded {
		addr, err := kit.FreeAddress()
		l.args = append(l.args, "--listen", addr)
		return "nats://" + addr, err
	}
	var err error
	// A broker of its own outlives each death, so that messages on their way are not lost with the server.
	if r.broker, err = startBroker(filepath.Join(r.dir, "nats")); err != nil {
		return "", err
	}
	l.args = append(l.args, "--nats", r.broker.ClientURL())
	return r.broker.ClientURL(), nil
}

// startClients starts the clients, each with a connection and a goroutine of its own, which ends with stopLoad.
func (r *rig) startClients(ctx context.Context, url string) error {
	ctx, r.stopLoad = context.WithCancel(ctx)
	for i := range r.opts.clients {
		conn, err := history.Connect(url, fmt.Sprintf("crash client %d", i))
		if err != nil {
			return err
		}
		c := history.NewClient(i, r.opts.seed, history.NewCaller(conn), r.rec, r.sink.Targets())
		r.clients.Go(func() {
			defer conn.Close()
			c.Run(ctx)
		})
	}
	return nil
}

// spawn starts a process. Most processes live too shortly for a checkpoint at the default interval, so
// half of them make one about every second: some of these die while the store is flushed and the log is
// truncated.
func (r *rig) spawn() (*process, error) {
	if r.chance(50) {
		return r.launcher.spawn("--checkpoint-every", "1s")
	}
	return r.launcher.spawn()
}

// rise starts the server and waits until it is ready. The recorded start includes the recovery.
func (r *rig) rise() error {
	p, err := r.spawn()
	if err != nil {
		return err
	}
	r.proc = p
	var line ready
	if err := p.ReadyLine(&line); err != nil {
		return err
	}
	r.rec.Rise(history.Start{Began: p.began, Ready: history.Now(), Epoch: line.Epoch})
	return nil
}

// readLSN records the LSN of the server. It is called before each death and after each start, because
// what was durable before a death must be there after the start.
func (r *rig) readLSN() error {
	return r.persist("position", func() error {
		var reply struct {
			LSN uint64 `json:"lsn"`
		}
		if err := r.api.Ask("status", struct{}{}, &reply); err != nil {
			return err
		}
		r.rec.Read(history.Reading{At: history.Now(), LSN: reply.LSN})
		return nil
	})
}

// persist repeats a call that may fail after a start until the connections are restored. It gives up at once if the
// server has died by itself, since then no repetition helps.
func (r *rig) persist(what string, try func() error) error {
	const triesMax, wait = 100, 50 * time.Millisecond
	var err error
	for range triesMax {
		if err = try(); err == nil {
			return nil
		}
		if r.proc.IsGone() {
			break
		}
		time.Sleep(wait)
	}
	return fmt.Errorf("%s: %w", what, err)
}

// close stops everything that is still running. The clients end first, so that they do not record the end of the
// others as failures.
func (r *rig) close() {
	r.stopLoad()
	r.clients.Wait()
	if r.proc != nil && !r.proc.IsGone() {
		r.proc.kill()
	}
	if r.sink != nil {
		r.sink.Close()
	}
	if r.conn != nil {
		r.conn.Close()
	}
	if r.broker != nil {
		r.broker.Shutdown()
		r.broker.WaitForShutdown()
	}
}
