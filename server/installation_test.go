package server

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/datadir"
	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/testkit"
)

// hall is a NATS server with one stream that takes the events of several installations.
type hall struct {
	t   *testing.T
	url string
	nc  *nats.Conn
	js  jetstream.JetStream
}

// newHall opens a hall whose stream ALL has these subjects.
func newHall(t *testing.T, subjects ...string) *hall {
	t.Helper()
	p := newTroupe(t)
	_, err := p.js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "ALL", Subjects: subjects})
	if err != nil {
		t.Fatal(err)
	}
	return &hall{t: t, url: p.url, nc: p.nc, js: p.js}
}

// start starts a node alone that publishes its events into the hall's stream.
func (h *hall) start(dir, prefix string) (*Server, *client.Client) {
	h.t.Helper()
	s, err := Start(h.t.Context(), Options{
		Dir: dir, HTTPListen: "127.0.0.1:0", NATSURL: h.url, Prefix: prefix, Events: true, EventsStream: "ALL", Logger: discard,
	})
	if err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() { _ = s.Close(context.Background()) })
	c, err := client.New(h.nc, client.Options{Prefix: prefix})
	if err != nil {
		h.t.Fatal(err)
	}
	return s, c
}

// trigger triggers a job, and returns the run when it has finished.
func (h *hall) trigger(c *client.Client, name string) string {
	h.t.Helper()
	run, err := c.Trigger(h.t.Context(), client.TriggerRequest{Name: name})
	if err != nil {
		h.t.Fatal(err)
	}
	return run.RunID
}

// has waits until the stream has these events of a run, in any order, and returns their message ids.
func (h *hall) has(prefix, run string, events ...string) (ids []string) {
	h.t.Helper()
	ctx, cancel := context.WithTimeout(h.t.Context(), 20*time.Second)
	defer cancel()
	consumer, err := h.js.OrderedConsumer(ctx, "ALL", jetstream.OrderedConsumerConfig{FilterSubjects: []string{prefix + ".events.>"}})
	if err != nil {
		h.t.Fatal(err)
	}
	missing := slices.Clone(events)
	for len(missing) > 0 {
		m, err := consumer.Next(jetstream.FetchContext(ctx))
		if err != nil {
			h.t.Fatalf("of run %s of %s the stream lacks %v: %v", run, prefix, missing, err)
		}
		var e struct {
			Event string `json:"event"`
			RunID string `json:"run_id"`
		}
		if err := json.Unmarshal(m.Data(), &e); err != nil {
			h.t.Fatal(err)
		}
		if e.RunID == run {
			ids = append(ids, m.Headers().Get(nats.MsgIdHdr))
			missing = slices.DeleteFunc(missing, func(one string) bool { return one == e.Event })
		}
	}
	return ids
}

// TestTwoInstallationsLoseNoEvent has two nodes with the same history, commit by commit, and one stream.
func TestTwoInstallationsLoseNoEvent(t *testing.T) {
	h := newHall(t, "low.events.>", "high.events.>")
	clients := make(map[string]*client.Client)
	for _, prefix := range []string{"low", "high"} {
		_, clients[prefix] = h.start(filepath.Join(t.TempDir(), "data"), prefix)
		mustPut(t, clients[prefix], natsJob("a", "@yearly"))
	}
	for prefix, c := range clients {
		h.has(prefix, h.trigger(c, "a"), "run.pending", "run.succeeded")
	}
}

// TestRestoredBackupLosesNoEvent has a node whose backup is restored beside it: what happens there has the same
// LSNs as what happened after the backup.
func TestRestoredBackupLosesNoEvent(t *testing.T) {
	h := newHall(t, "carillon.events.>")
	s, c := h.start(filepath.Join(t.TempDir(), "data"), "carillon")
	mustPut(t, c, natsJob("a", "@yearly"))
	b := takeBackup(t, c)
	before := h.has("carillon", h.trigger(c, "a"), "run.pending", "run.succeeded")
	if err := s.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "restored")
	if _, err := datadir.Restore(dir, bytes.NewReader(b), discard); err != nil {
		t.Fatal(err)
	}
	_, c = h.start(dir, "carillon")
	after := h.has("carillon", h.trigger(c, "a"), "run.pending", "run.succeeded")
	one, _, _ := strings.Cut(before[0], ".")
	two, _, _ := strings.Cut(after[0], ".")
	if len(one) != 32 || len(two) != 32 || one == two {
		t.Errorf("the origins are %q and %q; want two ids", one, two)
	}
}

// TestOriginOutlivesALeader has a leader that dies, and its standby: the ids of both begin with that of the cluster.
func TestOriginOutlivesALeader(t *testing.T) {
	t.Parallel()
	p := newTroupe(t)
	start := func(name string) *Server {
		o := p.options(name, t.TempDir())
		o.Events, o.EventsStream = true, "ALL"
		return p.startWith(o)
	}
	a, b := start("a"), start("b")
	h := &hall{t: t, url: p.url, nc: p.nc, js: p.js}
	c := p.client(false)
	mustPut(t, c, natsJob("a", "@yearly"))
	before := h.has("carillon", h.trigger(c, "a"), "run.pending")
	p.level(a, b)
	p.kill(a)
	testkit.Until(p.t, "b leads", p.leads(b))
	after := h.has("carillon", h.trigger(c, "a"), "run.pending")
	for _, id := range []string{before[0], after[0]} {
		if !strings.HasPrefix(id, p.info(b).Cluster.ID+".") {
			t.Errorf("the id is %s; want it to begin with %s", id, p.info(b).Cluster.ID)
		}
	}
}

// TestDuplicatesAreShown has an event that is announced twice, and a run that its stream has already.
func TestDuplicatesAreShown(t *testing.T) {
	h := newHall(t, "carillon.events.>", "out.>")
	s, c := h.start(filepath.Join(t.TempDir(), "data"), "carillon")
	at := time.Now().Add(time.Second).Truncate(time.Millisecond)
	once := client.Job{Name: "once", Schedule: "@at " + at.UTC().Format(time.RFC3339Nano), Target: client.Target{Kind: "jetstream", Subject: "out.once"}}
	run := fmt.Sprintf("%s-%d", mustPut(t, c, once).ID, at.UnixMilli())
	if _, err := h.js.PublishMsg(t.Context(), &nats.Msg{Subject: "out.once", Header: nats.Header{nats.MsgIdHdr: {run}}}); err != nil {
		t.Fatal(err)
	}
	event := job.Announcement{Notice: job.Notice{ID: job.NoticeID{LSN: 1 << 40}, Event: true, Status: job.StatusRunning, Tenant: "t", Name: "n"}}
	for range 2 {
		if n, err := s.first().announcer.Announce(t.Context(), []job.Announcement{event}); n != 1 || err != nil {
			t.Fatalf("%d, %v", n, err)
		}
	}
	want := []string{"carillon_event_duplicates_total 1", "carillon_target_duplicates_total 1"}
	testkit.Until(t, fmt.Sprintf("the metrics have %q", want), func() bool {
		text := testkit.Get(t, s.Ready().HTTP+"/metrics").Body
		return strings.Contains(text, "\n"+want[0]+"\n") && strings.Contains(text, "\n"+want[1]+"\n")
	})
}
