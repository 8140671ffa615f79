package server

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-io/carillon/testkit"
)

// TestTakeover: a leader dies without notice; the standby leads within about a second, under a higher epoch and
// fence, and no tick is lost or decided twice. The dead node comes back as a standby.
func TestTakeover(t *testing.T) {
	t.Parallel()
	p := newTroupe(t)
	dirs := map[string]string{"a": t.TempDir(), "b": t.TempDir()}
	a := p.start("a", dirs["a"])
	b := p.start("b", dirs["b"])
	if a.Ready().Role != "leader" || b.Ready().Role != "standby" {
		t.Fatalf("a is %s and b %s", a.Ready().Role, b.Ready().Role)
	}
	received := make(chan *nats.Msg, 10000)
	if _, err := p.nc.ChanSubscribe("out.>", received); err != nil {
		t.Fatal(err)
	}
	p.put("x")
	first := testkit.Receive(t, received)
	p.kill(a)
	begun := time.Now()
	testkit.Until(p.t, "b leads", p.leads(b))
	t.Logf("took over after %s", time.Since(begun))
	p.put("y")
	var fence uint64
	testkit.Until(p.t, "a run of y comes", func() bool {
		m := testkit.Receive(t, received)
		if m.Header.Get("Carillon-Job") == "x" {
			fence = max(fence, fenceOf(t, m))
		}
		return m.Header.Get("Carillon-Job") == "y"
	})
	if fence <= fenceOf(t, first) {
		t.Errorf("the fence went from %d to %d", fenceOf(t, first), fence)
	}
	if st := p.info(b); st.Epoch != 2 || st.Cluster.Holder != "b" || st.Cluster.Term != 2 {
		t.Errorf("after the takeover: %+v, %+v", st, st.Cluster)
	}
	if err := a.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	a = p.start("a", dirs["a"])
	if a.Ready().Role != "standby" {
		t.Errorf("a came back as %s", a.Ready().Role)
	}
	p.level(b, a)
	p.eachTickOnce("x", 10)
}

// TestHandover: on a request, and at its stop, the leader lets the standby lead. No run is launched twice.
func TestHandover(t *testing.T) {
	t.Parallel()
	p := newTroupe(t)
	a, b := p.start("a", t.TempDir()), p.start("b", t.TempDir())
	received := make(chan *nats.Msg, 10000)
	if _, err := p.nc.ChanSubscribe("out.>", received); err != nil {
		t.Fatal(err)
	}
	p.put("x")
	testkit.Receive(t, received)
	c := p.client(false)
	if _, err := c.Handover(t.Context(), 0, "nobody"); err == nil || !strings.Contains(err.Error(), "no standby") {
		t.Errorf("a hand-over to an unknown node: %v", err)
	}
	reply, err := c.Handover(t.Context(), 0, "")
	if err != nil || reply.From != "a" || reply.To != "b" {
		t.Fatalf("handed over: %+v, %v", reply, err)
	}
	testkit.Until(p.t, "b leads", p.leads(b))
	p.level(b, a)
	if err := b.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	testkit.Until(p.t, "a leads", p.leads(a))
	p.put("y")
	seen := make(map[string]int)
	testkit.Until(p.t, "a run of y comes", func() bool {
		m := testkit.Receive(t, received)
		seen[m.Header.Get("Carillon-Run-Id")]++
		return m.Header.Get("Carillon-Job") == "y"
	})
	for id, n := range seen {
		if n > 1 {
			t.Errorf("run %s was launched %d times", id, n)
		}
	}
	p.eachTickOnce("x", 5)
	if _, err := c.Handover(t.Context(), 0, ""); err == nil {
		t.Error("a hand-over without a standby was taken")
	}
}

// TestHTTPThroughAHandover: a node that hands over passes on what comes over HTTP, and refuses nothing, until its copy is followed again.
func TestHTTPThroughAHandover(t *testing.T) {
	t.Parallel()
	p := newTroupe(t)
	a, b := p.start("a", t.TempDir()), p.start("b", t.TempDir())
	p.put("x")
	over := make(chan struct{})
	go func() {
		defer close(over)
		for _, to := range []*Server{b, a, b} {
			p.handsOver(to)
		}
	}()
	for n := 0; ; n++ {
		for _, path := range []string{"/api/v1/jobs/x", "/api/v1/jobs"} {
			if r := p.ask([]*Server{a, b}[n%2], http.MethodGet, path, ""); r.Status != http.StatusOK {
				t.Fatalf("request %d: %d %s", n, r.Status, r.Body)
			}
		}
		select {
		case <-over:
			return
		default:
		}
	}
}

// handsOver asks until a node leads. The copy that is to lead may not be level yet.
func (p *troupe) handsOver(to *Server) {
	c := p.client(false)
	if !testkit.Poll(p.t.Context(), func() bool {
		_, err := c.Handover(p.t.Context(), 0, to.opts.Node)
		return err == nil && testkit.Poll(p.t.Context(), p.leads(to))
	}) {
		p.t.Errorf("%s does not lead", to.opts.Node)
	}
}

// TestDurabilityLocal: commits count without the stream, and reach the standby all the same.
func TestDurabilityLocal(t *testing.T) {
	t.Parallel()
	p := newTroupe(t)
	start := func(name string) *Server {
		o := p.options(name, t.TempDir())
		o.Durability = DurabilityLocal
		return p.startWith(o)
	}
	a, b := start("a"), start("b")
	p.put("x")
	p.level(a, b)
	testkit.Retry(t, "b leads", func(ctx context.Context) error { // a may not have heard yet that b is level
		_, err := p.client(false).Handover(ctx, 0, "b") // and not any node: asked again, b would hand over to a
		if p.leads(b)() {
			return nil
		}
		return cmp.Or(err, errors.New("b does not lead yet"))
	})
	p.level(b, a)
	p.eachTickOnce("x", 1)
	if d := p.info(b).Cluster.Durability; d != "local" {
		t.Errorf("the status says %q", d)
	}
}
