package server

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/client/clienttest"
	"github.com/carillon-io/carillon/testkit"
)

// operator is a client that says who it is.
func (p *troupe) operator() *client.Client {
	p.t.Helper()
	return clienttest.New(p.t, p.nc, client.Options{By: "alice@ci"})
}

// asks repeats a request about places until it is taken.
func (p *troupe) asks(c *client.Client, q client.PlaceRequest) {
	p.t.Helper()
	var err error
	defer func() {
		if p.t.Failed() {
			p.t.Logf("%+v: %v", q, err)
		}
	}()
	testkit.Until(p.t, q.Verb+" is taken", func() bool { _, err = c.Place(p.t.Context(), q); return err == nil })
}

// operations returns the entries of an audit log about the cluster, oldest first, in words. A hand-over that was taken at its
// second attempt counts once.
func operations(entries []client.AuditEntry) (all []string) {
	for _, e := range slices.Backward(entries) {
		if e.JobID == "" {
			all = append(all, fmt.Sprintf("%s %s (%s) by %s, who claims %q, from %s", e.Action, e.Name, e.Detail, e.By, e.Claimed, e.From))
		}
	}
	return slices.Compact(all)
}

// TestOperationsAreAudited: what an operator asks of the cluster is in the audit log, with the name that the operator gives; what
// is refused, and what Carillon does by itself, is not.
func TestOperationsAreAudited(t *testing.T) {
	t.Parallel()
	p := newTroupe(t)
	start := func(name string) *Server {
		o := p.options(name, t.TempDir())
		o.Shards, o.Copies, o.SpreadEvery, o.placeEvery = troupeShards, 1, 100*time.Millisecond, 50*time.Millisecond
		return p.startWith(o)
	}
	a, b := start("a"), start("b")
	c := p.operator()
	p.put("job")
	isEmpty := func() bool { return len(b.held()) == 0 && len(b.leads()) == 0 }
	testkit.Until(t, "b has its share", func() bool { return len(b.held()) > 0 && len(b.leads()) > 0 })

	p.asks(c, client.PlaceRequest{Verb: client.PlaceDrain, Node: "b"})
	testkit.Until(t, "b is empty", isEmpty)
	if _, err := c.Place(t.Context(), client.PlaceRequest{Verb: client.PlaceRemove, Node: "a"}); err == nil {
		t.Error("a node that leads is removed")
	}
	p.asks(c, client.PlaceRequest{Verb: client.PlaceKeep, Node: "b"})
	testkit.Until(t, "b has its share again", func() bool { return len(b.held()) > 0 && len(b.leads()) > 0 })
	moved := a.held()[0]
	p.asks(c, client.PlaceRequest{Verb: client.PlaceMove, Shard: moved, To: "b"})
	testkit.Until(t, "b leads the shard that was moved", func() bool { return slices.Contains(b.leads(), moved) })
	p.asks(c, client.PlaceRequest{Verb: client.PlaceDrain, Node: "b"})
	testkit.Until(t, "b is empty again", isEmpty)
	must(t, b.Close(t.Context()))
	p.asks(c, client.PlaceRequest{Verb: client.PlaceRemove, Node: "b"})

	page, err := c.ListAudit(t.Context(), client.AuditRequest{Limit: 100})
	must(t, err)
	const by = `by alice@ci, who claims "", from nats`
	want := []string{
		"drain_node b () " + by, "keep_node b () " + by, fmt.Sprintf("move_shard b (from a, shard %d) ", moved) + by, "drain_node b () " + by, "remove_node b () " + by,
	}
	if got := operations(page.Entries); !slices.Equal(got, want) {
		t.Errorf("the audit log has %q; want %q", got, want)
	}
	if page, err = c.ListAudit(t.Context(), client.AuditRequest{Name: "b", Action: "move_shard", By: "alice@ci"}); err != nil || len(page.Entries) != 1 {
		t.Errorf("by node, action and caller it has %+v, %v", page.Entries, err)
	}
}

// TestHandoverIsAudited: a hand-over is in the audit log of its shard. With a file of rights the server says what it knows of the
// caller, and what the caller claims.
func TestHandoverIsAudited(t *testing.T) {
	t.Parallel()
	p := newLimitedTroupe(t, "jobs: 9")
	a, b := p.start("a"), p.start("b")
	p.levelInEach(a, b)
	c := p.operator()
	for _, shard := range []uint32{0, 3} {
		testkit.Until(t, "the shard is handed over", func() bool { _, err := c.Handover(t.Context(), shard, "b"); return err == nil })
	}
	testkit.Until(t, "b leads the shards", func() bool { return slices.Equal(b.leads(), []uint32{0, 3}) })
	if _, err := c.Handover(t.Context(), 1, "nobody"); err == nil {
		t.Error("a shard is handed over to a node that is not there")
	}
	var page client.AuditPage
	r := p.answer(func() testkit.Reply { return p.ask(a, http.MethodGet, "/api/v1/audit", "") })
	if err := json.Unmarshal([]byte(r.Body), &page); err != nil || r.Status != http.StatusOK {
		t.Fatalf("%d %s", r.Status, r.Body)
	}
	want := []string{
		`hand_over b (from a, shard 0) by nats, who claims "alice@ci", from nats`, `hand_over b (from a, shard 3) by nats, who claims "alice@ci", from nats`,
	}
	if got := operations(page.Entries); !slices.Equal(got, want) {
		t.Errorf("the audit log has %q; want %q", got, want)
	}
}
