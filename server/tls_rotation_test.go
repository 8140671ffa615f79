package server

import (
	"context"
	"crypto/tls"
	"io"
	"log/slog"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-io/carillon/bus"
	"github.com/carillon-io/carillon/certs"
	"github.com/carillon-io/carillon/certs/certstest"
	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/client/clienttest"
	"github.com/carillon-io/carillon/testkit"
)

// securedNodes are the options of three nodes that have TLS on all listeners, with the same files for all of a node.
func securedNodes(t *testing.T, a *certs.Authority) (nodes []Options, files []certs.Files) {
	t.Helper()
	nodes = nodeOptions(t, 3)
	for i := range nodes {
		f := certstest.Files(t, a, certstest.Node(nodes[i].Node))
		o := &nodes[i]
		o.HTTPTLS, o.ListenTLS, o.ClusterTLS, o.Logger, o.ClusterPassword = f, f, f, testLog(), ""
		o.Lead = time.Second
		files = append(files, f)
	}
	return nodes, files
}

// load connects anew to all nodes over HTTP and NATS, again and again, until it is stopped. It counts what succeeds.
type load struct {
	t    *testing.T
	tls  atomic.Pointer[tls.Config] // of the clients
	done atomic.Int64
	all  sync.WaitGroup
	stop context.CancelFunc
}

// startLoad begins the load on some servers.
func startLoad(t *testing.T, c *tls.Config, servers []*Server) *load {
	l := &load{t: t}
	l.tls.Store(c)
	ctx, stop := context.WithCancel(t.Context())
	l.stop = stop
	for _, s := range servers {
		l.all.Go(func() {
			for ctx.Err() == nil {
				l.overWeb(s)
				l.overNATS(s)
			}
		})
	}
	t.Cleanup(l.end)
	return l
}

// end ends the load.
func (l *load) end() {
	l.stop()
	l.all.Wait()
}

func (l *load) overWeb(s *Server) {
	web := &http.Client{Transport: &http.Transport{TLSClientConfig: l.tls.Load()}, Timeout: testkit.Patience}
	defer web.CloseIdleConnections()
	res, err := web.Get(s.Ready().HTTP + "/healthz")
	if err != nil {
		l.t.Errorf("HTTP of %s: %v", s.opts.Node, err)
		return
	}
	_, _ = io.Copy(io.Discard, res.Body)
	_ = res.Body.Close()
	l.done.Add(1)
}

func (l *load) overNATS(s *Server) {
	nc, err := nats.Connect(s.Ready().NATS, nats.Secure(l.tls.Load()), nats.Timeout(testkit.Patience))
	if err != nil {
		l.t.Errorf("NATS of %s: %v", s.opts.Node, err)
		return
	}
	defer nc.Close()
	if err := nc.FlushTimeout(testkit.Patience); err != nil {
		l.t.Errorf("NATS of %s: %v", s.opts.Node, err)
	}
	l.done.Add(1)
}

// trustAll is a client that trusts both of two authorities and has a certificate of one.
func trustAll(t *testing.T, own, other *certs.Authority) *tls.Config {
	alice := certstest.Client("alice")
	c := certstest.Trust(t, own, &alice)
	ca, _, err := other.PEM()
	if err != nil {
		t.Fatal(err)
	}
	c.RootCAs.AppendCertsFromPEM(ca)
	return c
}

// TestClusterRotates replaces all certificates of a cluster three times, the last time with their authority, while jobs
// fire and clients connect: no connection is refused, no route is lost, and each tick becomes one run.
func TestClusterRotates(t *testing.T) {
	old, next := certstest.NewAuthority(t), certstest.NewAuthority(t)
	nodes, files := securedNodes(t, old)
	servers := startAll(t.Context(), t, nodes...)
	nc, c := clienttest.Connect(t, servers[0].Ready().NATS, nats.Secure(trustAll(t, old, next)), nats.NoReconnect())
	fired, err := nc.SubscribeSync("out.>")
	if err != nil {
		t.Fatal(err)
	}
	if err := nc.Flush(); err != nil {
		t.Fatal(err)
	}
	testkit.Retry(t, "a job is put", func(ctx context.Context) error {
		return putOften(ctx, c)
	})
	epoch := servers[0].first().shard.Status().Epoch
	l := startLoad(t, trustAll(t, old, next), servers)
	oldCA, _, _ := old.PEM()
	nextCA, _, _ := next.PEM()
	both := slices.Concat(oldCA, nextCA)
	pass := func(what string, change func(i int)) {
		t.Helper()
		for i, s := range servers {
			change(i)
			if err := s.CheckCertificates(); err != nil {
				t.Errorf("%s: %v", what, err)
			}
		}
		was := l.done.Load()
		ran, _, _ := fired.Pending()
		testkit.Until(t, what+": clients connect, and jobs fire", func() bool {
			now, _, _ := fired.Pending()
			return l.done.Load() > was+12 && now > ran+40
		})
	}
	renew := func(a *certs.Authority) func(int) {
		return func(i int) {
			certstest.Write(t, a, certstest.Node(nodes[i].Node), certs.Files{Cert: files[i].Cert, Key: files[i].Key})
		}
	}
	trust := func(ca []byte) func(int) { return func(i int) { certstest.Replace(t, files[i].CA, ca) } }
	pass("renewed", renew(old))
	pass("renewed again", renew(old))
	pass("both authorities", trust(both))
	pass("renewed by the new authority", renew(next))
	l.tls.Store(trustAll(t, next, old))
	pass("clients have new certificates", func(int) {})
	l.end() // the last clients with the certificate of before
	l = startLoad(t, trustAll(t, next, next), servers)
	pass("the new authority alone", trust(nextCA))
	l.end()
	checkRotated(t, servers, epoch)
	eachTickSeen(t, c, fired)
}

// often are the names of the jobs that fire twenty times a second each.
var often = []string{"j0", "j1", "j2", "j3", "j4", "j5", "j6", "j7", "j8", "j9"}

func putOften(ctx context.Context, c *client.Client) error {
	for _, name := range often {
		if _, _, err := c.Put(ctx, client.Job{Name: name, Schedule: "@every 50ms", Target: client.Target{Kind: "nats", Subject: "out." + name}}); err != nil {
			return err
		}
	}
	return nil
}

// checkRotated: every node has used each change, and the same node has led all the time.
func checkRotated(t *testing.T, servers []*Server, epoch uint64) {
	t.Helper()
	for _, s := range servers {
		st := s.certs.cluster.State()
		if st.Reloads != 5 || st.Failures != 0 || len(s.certs.cluster.Warnings()) != 0 {
			t.Errorf("%s: %+v, warnings %q", s.opts.Node, st, s.certs.cluster.Warnings())
		}
		if now := s.first().shard.Status().Epoch; now != epoch {
			t.Errorf("%s: the epoch was %d and is %d", s.opts.Node, epoch, now)
		}
	}
}

// eachTickSeen: the runs that came have no tick between them without one.
func eachTickSeen(t *testing.T, c *client.Client, fired *nats.Subscription) {
	t.Helper()
	var all []client.Run
	for _, name := range often {
		runs, err := c.ListRuns(t.Context(), client.RunListRequest{Job: name, Limit: 1000})
		if err != nil {
			t.Fatal(err)
		}
		for i := 1; i < len(runs.Runs); i++ {
			if step := runs.Runs[i-1].ScheduledAt.Sub(runs.Runs[i].ScheduledAt.Time); step != 50*time.Millisecond {
				t.Errorf("%s: the tick at %v is followed by that at %v", name, runs.Runs[i].ScheduledAt, runs.Runs[i-1].ScheduledAt)
			}
		}
		all = append(all, runs.Runs...)
	}
	seen := map[string]bool{}
	testkit.Until(t, "every run that succeeded comes", func() bool {
		for n, _, _ := fired.Pending(); n > 0; n-- {
			m, err := fired.NextMsg(testkit.Patience)
			if err != nil {
				t.Fatal(err)
			}
			seen[m.Header.Get("Carillon-Run-Id")] = true
		}
		return !slices.ContainsFunc(all, func(r client.Run) bool { return r.Status == "succeeded" && !seen[r.RunID] })
	})
	if len(seen) < 200 {
		t.Errorf("only %d runs came", len(seen))
	}
}

// TestForeignPeer: a node with the certificate of another authority, or one that has ended, does not become a peer, and neither does
// what shows no certificate, or one of a client. Both sides warn of the node.
func TestForeignPeer(t *testing.T) {
	t.Parallel()
	ended := certstest.Node("c")
	ended.Begins, ended.Ends = time.Now().Add(-48*time.Hour), time.Now().Add(-24*time.Hour)
	a := certstest.NewAuthority(t)
	for text, write := range map[string]func(certs.Files){
		"is not let in, because its certificate is from no authority": func(f certs.Files) { certstest.Write(t, certstest.NewAuthority(t), certstest.Node("c"), f) },
		"is not let in, because its certificate has ended on":         func(f certs.Files) { certstest.Write(t, a, ended, certs.Files{Cert: f.Cert, Key: f.Key}) },
	} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			refusesPeer(t, a, write, text)
		})
	}
}

// refusesPeer starts three nodes, the last of which has the files that are written, and waits until the others warn of it with a
// text and it of them.
func refusesPeer(t *testing.T, a *certs.Authority, write func(certs.Files), warning string) {
	t.Helper()
	nodes, files := securedNodes(t, a)
	write(files[2])
	var servers []*Server
	log := new(testkit.Buffer)
	for _, o := range nodes {
		o.Logger = slog.New(slog.NewTextHandler(log, nil))
		s := &Server{opts: o}
		if err := s.openCerts(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(s.stopCerts)
		var err error
		if s.bus, err = bus.Embed(s.busOptions()); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(s.bus.Close)
		servers = append(servers, s)
	}
	routes := func(i int) int {
		now, _ := servers[i].bus.Embedded()
		return now.Routes
	}
	warns := func(i int, text string) bool {
		return slices.ContainsFunc(servers[i].bus.Strangers(), func(w string) bool { return strings.Contains(w, text) })
	}
	testkit.Until(t, "two nodes are peers, and the third is refused, with warnings on both sides", func() bool {
		return routes(0) > 0 && routes(1) > 0 && warns(0, warning) && warns(1, warning) && warns(2, "does not accept the certificate of this node") && strings.Contains(log.String(), warning)
	})
	if routes(2) != 0 {
		t.Error("a foreign node has a route")
	}
	if strings.Contains(log.String(), "DO NOT USE IN PRODUCTION") {
		t.Error("the log says that peers are not verified")
	}
	ops := certstest.Client("ops")
	for what, w := range map[string]*certs.Wanted{"no certificate": nil, "that of a client": &ops} {
		conn, err := tls.Dial("tcp", nodes[0].ClusterListen, certstest.Trust(t, a, w))
		if err != nil {
			continue
		}
		_ = conn.SetReadDeadline(time.Now().Add(testkit.Patience))
		if _, err := conn.Read(make([]byte, 1)); err == nil || os.IsTimeout(err) {
			t.Errorf("a peer with %s: %v", what, err)
		}
		_ = conn.Close()
	}
}
