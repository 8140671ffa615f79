package dispatch

import (
	"cmp"
	"context"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/carillon-io/carillon/dispatch/dispatchtest"
	"github.com/carillon-io/carillon/instant"
	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/testkit"
)

// waitMax is how long a test waits for what must happen.
const waitMax = 10 * time.Second

// startNATS runs a real server with JetStream until the test ends. Options are changed by edit.
func startNATS(t testing.TB, edit func(*server.Options)) *server.Server {
	t.Helper()
	o := &server.Options{Host: "127.0.0.1", Port: -1, JetStream: true, StoreDir: t.TempDir(), NoSigs: true, NoLog: true}
	if edit != nil {
		edit(o)
	}
	s, err := server.NewServer(o)
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	if !s.ReadyForConnections(waitMax) {
		t.Fatal("NATS server is not ready")
	}
	t.Cleanup(func() {
		s.Shutdown()
		s.WaitForShutdown()
	})
	return s
}

// dial returns a client connection for the test itself.
func dial(t testing.TB, url string, options ...nats.Option) *nats.Conn {
	t.Helper()
	nc, err := nats.Connect(url, options...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	return nc
}

// subscribe calls back for messages, and returns when the server knows about it.
func subscribe(t testing.TB, nc *nats.Conn, subject string, callback nats.MsgHandler) {
	t.Helper()
	sub, err := nc.Subscribe(subject, callback)
	if err != nil {
		t.Fatal(err)
	}
	if err := sub.SetPendingLimits(-1, -1); err != nil {
		t.Fatal(err)
	}
	if err := nc.Flush(); err != nil {
		t.Fatal(err)
	}
}

// start returns a dispatcher that ends with the test. With a url it is connected to NATS.
func start(t testing.TB, o Options, url string, options ...nats.Option) *Dispatcher {
	t.Helper()
	if url != "" {
		options = append([]nats.Option{nats.ReconnectWait(10 * time.Millisecond), nats.ReconnectJitter(0, 0)}, options...)
		n, err := ConnectNATS(url, options...)
		if err != nil {
			t.Fatal(err)
		}
		o.NATS = n
	}
	o.Settle = cmp.Or(o.Settle, -1) // most tests have nobody who connects later
	d, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	lines.Store(d, dispatchtest.NewLine(d))
	t.Cleanup(func() {
		lines.Delete(d)
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		_ = d.Close(ctx) // what a test left in flight is cut off
	})
	return d
}

// deliveryTo is the n-th delivery to a target.
func deliveryTo(t job.Target, n int) *job.Delivery {
	return &job.Delivery{
		Run:     job.RunID{Job: 7, At: 1764576000000 + instant.Millis(n)},
		Tenant:  "default",
		Name:    "test",
		Target:  t,
		Payload: []byte("hello"),
		Attempt: 1,
		Fence:   9,
		Timeout: waitMax,
	}
}

// lines are where the tests' attempts wait for places, by dispatcher.
var lines sync.Map

func lineOf(d *Dispatcher) *dispatchtest.Line {
	l, _ := lines.Load(d)
	return l.(*dispatchtest.Line)
}

// launch launches, as soon as there is a place, and returns where the outcome will be. The channel has room
// for one too many.
func launch(d *Dispatcher, del *job.Delivery) <-chan job.Outcome {
	outcome := make(chan job.Outcome, 2)
	lineOf(d).Launch(del, func(o job.Outcome) { outcome <- o })
	return outcome
}

// launcher launches the attempts of up to so many runs to a target, one with each call; their outcomes come on the channel.
func launcher(d *Dispatcher, target job.Target, runs int) (outcomes chan job.Outcome, launch func(n int, attempt uint32)) {
	outcomes = make(chan job.Outcome, runs)
	return outcomes, func(n int, attempt uint32) {
		del := deliveryTo(target, n)
		del.Attempt = attempt
		lineOf(d).Launch(del, func(o job.Outcome) { outcomes <- o })
	}
}

// connectImpatient connects to NATS through a valve, with a connection that is given up after a tenth of a second without
// an answer.
func connectImpatient(t *testing.T, v *valve) *NATS {
	t.Helper()
	n, err := ConnectNATS(v.url(), nats.ReconnectWait(time.Millisecond))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(n.Close)
	n.stuck = 100 * time.Millisecond
	return n
}

// leavesNothing waits until neither a reply is awaited nor a lane is left.
func leavesNothing(t *testing.T, d *Dispatcher) {
	t.Helper()
	testkit.Until(t, "nothing is left behind", func() bool {
		d.link.replies.mu.Lock()
		defer d.link.replies.mu.Unlock()
		return len(d.link.replies.waiting) == 0 && d.Stats().Lanes == 0
	})
}

// launchAll launches n deliveries to a target.
func launchAll(d *Dispatcher, t job.Target, n int) []<-chan job.Outcome {
	var out []<-chan job.Outcome
	for i := range n {
		out = append(out, launch(d, deliveryTo(t, i)))
	}
	return out
}

// valve is a TCP relay in front of a server, which can stop or cut what flows through it.
type valve struct {
	listener net.Listener
	server   string

	mu     sync.Mutex
	open   *sync.Cond // broadcast when stopped or refused changes
	conns  []net.Conn
	stop   bool
	refuse bool
}

func newValve(t testing.TB, server string) *valve {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	v := &valve{listener: l, server: server}
	v.open = sync.NewCond(&v.mu)
	go v.accept()
	t.Cleanup(func() {
		l.Close()
		v.set(false, true)
		v.cut()
	})
	return v
}

func (v *valve) url() string { return "nats://" + v.listener.Addr().String() }

func (v *valve) accept() {
	for {
		client, err := v.listener.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("tcp", v.server)
		if err != nil {
			client.Close()
			continue
		}
		v.mu.Lock()
		refused := v.refuse
		v.conns = append(v.conns, client, server)
		v.mu.Unlock()
		if refused {
			v.cut()
			continue
		}
		go v.flow(client, server)
		go v.flow(server, client)
	}
}

func (v *valve) flow(from, to net.Conn) {
	defer from.Close()
	defer to.Close()
	buf := make([]byte, 4096)
	for {
		n, err := from.Read(buf)
		v.mu.Lock()
		for v.stop {
			v.open.Wait()
		}
		v.mu.Unlock()
		if _, errTo := to.Write(buf[:n]); err != nil || errTo != nil {
			return
		}
	}
}

// set stops the flow, or refuses connections, or lets both go on.
func (v *valve) set(stop, refuse bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.stop, v.refuse = stop, refuse
	v.open.Broadcast()
}

// cut breaks every connection.
func (v *valve) cut() {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, c := range v.conns {
		c.Close()
	}
	v.conns = nil
}
