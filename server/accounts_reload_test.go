package server_test

import (
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/client/clienttest"
	"github.com/carillon-io/carillon/testkit"
)

// TestReloadUnderLoad changes the file of rights again and again while clients work: those whose rights stay notice
// nothing, those that go are disconnected, those that change come back to their new place.
func TestReloadUnderLoad(t *testing.T) {
	t.Parallel()
	e := startEstate(t, nil)
	var lost atomic.Int64
	counts := nats.DisconnectErrHandler(func(*nats.Conn, error) { lost.Add(1) })
	worker := e.as("billing-operator", counts)
	if _, err := worker.Subscribe("work.ask", func(m *nats.Msg) { _ = m.Respond([]byte("done")) }); err != nil {
		t.Fatal(err)
	}
	settle(t, worker)
	c := clienttest.New(t, e.as("billing-admin", counts), client.Options{Tenant: "billing", NoRetry: true})
	gone := make(chan struct{}, 1)
	removed := e.as("stock-operator", nats.NoReconnect(), nats.ClosedHandler(func(*nats.Conn) { gone <- struct{}{} }))
	j := client.Job{Name: "ask", Schedule: "@yearly", Target: client.Target{Kind: "request", Subject: "work.ask"}, Retry: client.Retry{MaxAttempts: 1}}
	if _, _, err := c.Put(t.Context(), j); err != nil {
		t.Fatal(err)
	}
	var runs []client.Run
	for i := range 60 {
		runs = append(runs, trigger(t, c, "ask"))
		if i%3 == 0 {
			without := []string{"stock-operator"}
			if i%2 == 0 {
				without = append(without, "reader")
			}
			writeEstate(t, e.path, tenantsOf+fmt.Sprintf("  new%d:\n", i), without...)
			e.Reload()
		}
	}
	for _, run := range runs {
		ended(t, c, run, "succeeded")
	}
	testkit.Receive(t, gone)
	if removed.IsConnected() || lost.Load() != 0 {
		t.Errorf("connections of unchanged principals were lost %d times", lost.Load())
	}
	// A tenant and a principal that were added work at once.
	writeEstate(t, e.path, tenantsOf+"  fresh:\n")
	e.Reload()
	fresh, err := nats.Connect(e.Ready().NATS, nats.Token("cluster"), nats.UserInfo("fresh", ""))
	if err != nil {
		t.Fatal(err)
	}
	defer fresh.Close()
	got := listen(t, fresh, "work.tell")
	putJob(t, clienttest.New(t, fresh, client.Options{Tenant: "fresh"}), "tell", client.Target{Kind: "nats", Subject: "work.tell"})
	testkit.Receive(t, got)
}

// TestChangedRoleMoves: a client whose role changes is disconnected, and comes back to the place of its new role.
func TestChangedRoleMoves(t *testing.T) {
	t.Parallel()
	e := startEstate(t, nil)
	back := make(chan struct{}, 8)
	nc := e.as("billing-viewer", nats.ReconnectWait(10*time.Millisecond), nats.ReconnectJitter(0, 0), nats.ReconnectHandler(func(*nats.Conn) { back <- struct{}{} }))
	c := clienttest.New(t, nc, client.Options{Tenant: "billing"})
	j := client.Job{Name: "a", Schedule: "@yearly", Target: client.Target{Kind: "nats", Subject: "out.a"}}
	if _, _, err := c.Put(t.Context(), j); !errors.Is(err, client.CodeForbidden) {
		t.Fatalf("a viewer puts: %v", err)
	}
	got := listen(t, nc, "out.a")
	text := readFile(t, e.path)
	replaceFile(t, e.path, strings.Replace(text, "{tenant: billing, role: viewer}", "{tenant: billing, role: operator}", 1))
	e.Reload()
	testkit.Receive(t, back)
	settle(t, nc)
	putJob(t, c, "a", client.Target{Kind: "nats", Subject: "out.a"})
	testkit.Receive(t, got)
}

// TestBoundOfClients: a tenant has no more clients than its bound, and its bound takes nothing from another.
func TestBoundOfClients(t *testing.T) {
	t.Parallel()
	e := startEstate(t, nil)
	writeEstate(t, e.path, "  billing: {nats: {connections: 3}}\n  stock:\n")
	e.Reload()
	for range 3 {
		e.as("billing-operator")
	}
	if nc, err := nats.Connect(e.Ready().NATS, nats.Token("billing-admin")); err == nil {
		nc.Close()
		t.Error("a fourth client of billing connects")
	}
	e.as("stock-operator")
	e.as("cluster")
}

// TestOpenDirectoryGainsRights: a directory that was open keeps its jobs and streams; the runs of a tenant that is shared
// go where they went, until its programs have moved.
func TestOpenDirectoryGainsRights(t *testing.T) {
	t.Parallel()
	o := options(t.TempDir() + "/data")
	o.Events = true
	s := startWith(t, o)
	nc, c := connect(t, s)
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "WORK", Subjects: []string{"work.>"}}); err != nil {
		t.Fatal(err)
	}
	ended(t, c, putJob(t, c, "store", client.Target{Kind: "jetstream", Subject: "work.store"}), "succeeded")
	if err := s.Close(t.Context()); err != nil {
		t.Fatal(err)
	}

	e := &estate{t: t, path: t.TempDir() + "/auth.yaml"}
	writeEstate(t, e.path, "  billing:\n  stock:\n  default: {nats: {shared: true}}\n")
	o.Auth = e.path
	e.Server = startWith(t, o)
	if e.Ready().Jobs != 1 {
		t.Errorf("%d jobs are left", e.Ready().Jobs)
	}
	admin, err := jetstream.New(e.as("cluster"))
	if err != nil {
		t.Fatal(err)
	}
	events, err := admin.Stream(t.Context(), "CARILLON_EVENTS")
	if err != nil || events.CachedInfo().State.Msgs == 0 {
		t.Errorf("the events of before: %+v, %v", events, err)
	}
	c = e.of("default", "default-operator")
	ended(t, c, trigger(t, c, "store"), "succeeded")
	work, err := admin.Stream(t.Context(), "WORK")
	if err != nil || work.CachedInfo().State.Msgs != 2 {
		t.Fatalf("the stream of before: %+v, %v", work, err)
	}

	// The programs move: the tenant gets streams of its own, and is no longer shared.
	writeEstate(t, e.path, "  billing:\n  stock:\n  default: {nats: {storage: 16MiB}}\n")
	e.Reload()
	if run := ended(t, c, trigger(t, c, "store"), "dead"); !strings.Contains(run.Error, "stream") {
		t.Errorf("a run without a stream in its account: %+v", run)
	}
	moved, err := nats.Connect(e.Ready().NATS, nats.Token("cluster"), nats.UserInfo("default", ""))
	if err != nil {
		t.Fatal(err)
	}
	defer moved.Close()
	if js, err = jetstream.New(moved); err != nil {
		t.Fatal(err)
	}
	own, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "WORK", Subjects: []string{"work.>"}, MaxBytes: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	ended(t, c, trigger(t, c, "store"), "succeeded")
	if info, err := own.Info(t.Context()); err != nil || info.State.Msgs != 1 {
		t.Errorf("the tenant's own stream has %+v, %v", info.State, err)
	}
	if info, err := work.Info(t.Context()); err != nil || info.State.Msgs != 2 {
		t.Errorf("the stream of before has %+v, %v", info.State, err)
	}
}

// TestUnlistedTenant: a tenant that is taken out of the file does not gain the targets that its list withheld. Its runs are
// dead with a reason, a put is refused, and the status says so to those who may know of it.
func TestUnlistedTenant(t *testing.T) {
	t.Parallel()
	e := startEstate(t, nil)
	writeEstate(t, e.path, tenantsOf+"  unlisted: {targets: {subjects: [out], hosts: []}}\n")
	e.Reload()
	c := clienttest.New(t, e.as("cluster"), client.Options{Tenant: "unlisted"})
	ended(t, c, putJob(t, c, "a", client.Target{Kind: "nats", Subject: "out"}), "succeeded")
	writeEstate(t, e.path, tenantsOf)
	e.Reload()
	if text := readStatus(t, c); !strings.Contains(text, "jobs: unlisted;") {
		t.Errorf("before a run, the status warns of %q", text)
	}
	run := ended(t, c, trigger(t, c, "a"), "dead")
	if run.Reason != "target not allowed" || !strings.Contains(run.Error, "does not list this tenant") {
		t.Errorf("the run failed with %q, for %q", run.Error, run.Reason)
	}
	j := client.Job{Name: "b", Schedule: "@yearly", Target: client.Target{Kind: "http", URL: "https://example.com/"}}
	if _, _, err := c.Put(t.Context(), j); err == nil || !strings.Contains(err.Error(), "want it under tenants") {
		t.Errorf("a put in the tenant: %v", err)
	}
	for principal, want := range map[string]bool{"cluster": true, "reader": true, "billing-admin": false, "stock-viewer": false} {
		user := map[string]string{"cluster": "billing", "reader": "billing"}[principal] // who has several tenants names one
		tenant, _, _ := strings.Cut(principal, "-")
		if principal == "cluster" || principal == "reader" {
			tenant = "billing"
		}
		st, err := clienttest.New(t, e.as(principal, nats.UserInfo(user, "")), client.Options{Tenant: tenant}).Status(t.Context())
		if err != nil {
			t.Fatalf("%s: %v", principal, err)
		}
		if got := strings.Contains(strings.Join(st.Warnings, "\n"), "unlisted"); got != want {
			t.Errorf("%s reads the warnings %q", principal, st.Warnings)
		}
	}
	writeEstate(t, e.path, tenantsOf+"  unlisted:\n")
	e.Reload()
	if ended(t, c, trigger(t, c, "a"), "succeeded"); strings.Contains(readStatus(t, c), "unlisted") {
		t.Error("the warning stays")
	}
}

func readStatus(t *testing.T, c *client.Client) string {
	t.Helper()
	st, err := c.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(st.Warnings, "\n")
}
