package server_test

import (
	"context"
	"errors"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nats.go/micro"

	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/client/clienttest"
	"github.com/carillon-io/carillon/server"
	"github.com/carillon-io/carillon/testkit"
)

// TestPlaceOfClients: who may connect to the embedded server, with which user name.
func TestPlaceOfClients(t *testing.T) {
	t.Parallel()
	e := startEstate(t, nil)
	for _, tc := range []struct {
		token, user string
		in          bool
	}{
		{"", "", false}, {"", "billing", false}, {"unknown", "", false}, {"unknown", "billing", false},
		{"billing-viewer", "", true}, {"billing-viewer", "billing", true}, {"billing-viewer", "stock", false}, {"billing-viewer", "*", false},
		{"many", "", false}, {"many", "billing", true}, {"many", "stock", true}, {"many", "default", false},
		{"reader", "", false}, {"reader", "billing", true}, {"reader", "unlisted", false}, {"reader", "$G", false}, {"reader", "$SYS", false}, {"reader", "billing:ask", false},
		{"cluster", "", true}, {"cluster", "billing", true}, {"cluster", "unlisted", false}, {"cluster", "$SYS", false},
		{"billing-admin", "carillon", false}, {"billing-admin", "tenant billing", false},
	} {
		nc, err := nats.Connect(e.Ready().NATS, nats.Token(tc.token), nats.UserInfo(tc.user, ""))
		if (err == nil) != tc.in || err != nil && !errors.Is(err, nats.ErrAuthorization) {
			t.Errorf("%q as %q: %v", tc.token, tc.user, err)
		}
		if err == nil {
			nc.Close()
		}
	}
	req, err := http.NewRequestWithContext(t.Context(), "GET", e.Ready().HTTP+"/metrics", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer reader")
	if page := testkit.Do(t, http.DefaultClient, req); !strings.Contains(page.Body, "carillon_auth_refused_total{reason=\"nats_login\"} 17\n") {
		t.Errorf("the refused connections are not counted: %s", regexp.MustCompile("carillon_auth_refused_total.*").FindAllString(page.Body, -1))
	}
	nc, err := nats.Connect(e.Ready().NATS, nats.UserInfo("billing", "many")) // the token as the password
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	if _, err := clienttest.New(t, nc, client.Options{Tenant: "billing"}).List(t.Context(), client.ListRequest{}); err != nil {
		t.Error(err)
	}
}

// TestTenantsAreApart: a request across tenants meets no server, and no client sees what is not its own.
func TestTenantsOverNATSAreApart(t *testing.T) {
	t.Parallel()
	e := startEstate(t, nil)
	billing, stock := e.as("billing-admin"), e.as("stock-admin")
	// A member of the service's queue group would get a share of the requests.
	if sub, err := billing.QueueSubscribeSync("carillon.v1.billing.>", "q"); err == nil {
		settle(t, billing)
		if sub.IsValid() && !errors.Is(billing.LastError(), nats.ErrPermissionViolation) {
			t.Error("a client of a tenant may receive the tenant's requests")
		}
	}
	for _, subject := range []string{
		"carillon.v1.stock.jobs.list", "carillon.v1.default.jobs.list", "carillon.account.v1.billing.jobs.list", "carillon.account.v1.stock.jobs.list",
		"carillon.standby.v1.billing.jobs.list", "carillon.shard.0.v1.billing.jobs.list", "carillon.cluster.x", "carillon.backup.0.open", "carillon.log.x",
	} {
		if m, err := billing.Request(subject, []byte("{}"), 5*time.Second); !errors.Is(err, nats.ErrNoResponders) {
			t.Errorf("%s from the account of billing: %v, %v", subject, m, err)
		}
	}
	// With a leader there, a client is told so, and does not wait for one until its time is over.
	_, err := clienttest.New(t, billing, client.Options{Tenant: "stock", Timeout: time.Hour}).List(t.Context(), client.ListRequest{})
	if !client.IsForbidden(err) || !errors.Is(err, nats.ErrNoResponders) || !strings.Contains(err.Error(), "the leader serves no requests of the tenant stock on this connection") {
		t.Errorf("a request for another tenant: %v", err)
	}
	seen := map[string]chan *nats.Msg{
		"a viewer": listen(t, e.as("billing-viewer"), ">"), "a program": listen(t, e.as("billing-operator"), ">"), "stock": listen(t, stock, ">"),
	}
	ours, theirs := e.of("billing", "billing-admin"), e.of("stock", "stock-admin")
	run := putJob(t, ours, "a", client.Target{Kind: "nats", Subject: "out.a"})
	ended(t, ours, run, "succeeded")
	putJob(t, theirs, "b", client.Target{Kind: "nats", Subject: "out.b"})
	ended(t, theirs, trigger(t, theirs, "b"), "succeeded")
	if jobs, err := theirs.List(t.Context(), client.ListRequest{}); err != nil || len(jobs.Jobs) != 1 || jobs.Jobs[0].Name != "b" {
		t.Errorf("stock has the jobs %+v, %v", jobs, err)
	}
	settle(t, billing, stock)
	for who, messages := range seen {
		want := map[string]string{"a program": "out.a", "stock": "out.b"}[who]
		for len(messages) > 0 {
			m := <-messages
			isReply := strings.HasPrefix(m.Subject, "_INBOX.") && who != "a viewer"
			if m.Subject != want && !isReply {
				t.Errorf("%s sees %s", who, m.Subject)
			}
		}
	}
}

// TestTargetsStayWithTheirTenant: a run reaches neither another tenant nor Carillon's account, and its reply comes back.
func TestTargetsStayWithTheirTenant(t *testing.T) {
	t.Parallel()
	e := startEstate(t, nil)
	others := []chan *nats.Msg{listen(t, e.as("cluster"), "work.>"), listen(t, e.as("stock-operator"), "work.>"), listen(t, e.as("billing-viewer"), "work.>")}
	for _, nc := range []*nats.Conn{e.as("cluster"), e.as("stock-operator"), e.as("billing-viewer")} {
		if _, err := nc.Subscribe("work.ask", func(m *nats.Msg) { _ = m.Respond([]byte("stolen")) }); err != nil {
			t.Fatal(err)
		}
		settle(t, nc)
	}
	c := e.of("billing", "billing-operator")
	alone := ended(t, c, putJob(t, c, "ask", client.Target{Kind: "request", Subject: "work.ask"}), "dead")
	if !strings.Contains(alone.Error, "no service") && !strings.Contains(alone.Error, "no responders") && !strings.Contains(alone.Error, "nobody") {
		t.Logf("a request without a service in the tenant: %q", alone.Error)
	}
	worker := e.as("billing-operator")
	if _, err := worker.Subscribe("work.ask", func(m *nats.Msg) { _ = m.Respond([]byte("done")) }); err != nil {
		t.Fatal(err)
	}
	heard := listen(t, worker, "work.tell")
	ended(t, c, trigger(t, c, "ask"), "succeeded")
	putJob(t, c, "tell", client.Target{Kind: "nats", Subject: "work.tell"})
	if m := testkit.Receive(t, heard); string(m.Data) != `"tell"` {
		t.Errorf("the worker got %q", m.Data)
	}
	for i, got := range others {
		if len(got) > 0 {
			t.Errorf("client %d of others got %s", i, (<-got).Subject)
		}
	}
}

// TestStreamsOfATenant: a target of kind jetstream is a stream of the tenant, which its admin makes; Carillon's streams are
// not there, and a tenant without storage has none.
func TestStreamsOfATenant(t *testing.T) {
	t.Parallel()
	e := startEstate(t, func(o *server.Options) { o.Events = true })
	js := func(principal string) jetstream.JetStream {
		js, err := jetstream.New(e.as(principal, nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {})))
		if err != nil {
			t.Fatal(err)
		}
		return js
	}
	config := jetstream.StreamConfig{Name: "WORK", Subjects: []string{"work.>"}, MaxBytes: 1 << 20}
	short, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if _, err := js("billing-operator").CreateStream(short, config); err == nil {
		t.Error("an operator makes a stream")
	}
	admin := js("billing-admin")
	stream, err := admin.CreateStream(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	c := e.of("billing", "billing-operator")
	ended(t, c, putJob(t, c, "store", client.Target{Kind: "jetstream", Subject: "work.store"}), "succeeded")
	if m, err := stream.GetMsg(t.Context(), 1); err != nil || string(m.Data) != `"store"` {
		t.Errorf("the stream has %+v, %v", m, err)
	}
	if _, err := admin.CreateStream(t.Context(), jetstream.StreamConfig{Name: "BIG", Subjects: []string{"big"}, MaxBytes: 64 << 20}); err == nil {
		t.Error("a stream above the storage of the tenant is made")
	}
	for _, name := range []string{"CARILLON_EVENTS", "KV_x"} {
		if _, err := admin.Stream(t.Context(), name); !errors.Is(err, jetstream.ErrStreamNotFound) {
			t.Errorf("%s in the account of a tenant: %v", name, err)
		}
		if err := admin.DeleteStream(t.Context(), name); !errors.Is(err, jetstream.ErrStreamNotFound) {
			t.Errorf("%s is deleted: %v", name, err)
		}
	}
	if own, err := js("cluster").Stream(t.Context(), "CARILLON_EVENTS"); err != nil {
		t.Errorf("the stream of events of Carillon: %v, %v", own, err)
	}
	if _, err := js("stock-admin").AccountInfo(t.Context()); err == nil {
		t.Error("a tenant without storage has JetStream")
	}
	theirs := e.of("stock", "stock-operator")
	run := ended(t, theirs, putJob(t, theirs, "store", client.Target{Kind: "jetstream", Subject: "work.store"}), "dead")
	if !strings.Contains(run.Error, "stream") {
		t.Errorf("a run to a stream that is not in its tenant: %q", run.Error)
	}
}

// TestNoticesOfATenant: dead letters and events reach the programs of their tenant, and nobody else; only Carillon
// publishes them.
func TestNoticesOfATenant(t *testing.T) {
	t.Parallel()
	e := startEstate(t, func(o *server.Options) { o.Events = true })
	forger := e.as("billing-admin", nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}))
	dead, events := listen(t, e.as("billing-operator"), "carillon.dead.*"), listen(t, e.as("billing-operator"), "carillon.events.>")
	others := []chan *nats.Msg{listen(t, e.as("billing-viewer"), "carillon.>"), listen(t, e.as("stock-admin"), "carillon.>")}
	for _, subject := range []string{"carillon.dead.billing", "carillon.events.billing.run.dead"} {
		if err := forger.Publish(subject, []byte("forged")); err != nil {
			t.Fatal(err)
		}
	}
	settle(t, forger)
	c := e.of("billing", "billing-operator")
	run := putJob(t, c, "a", client.Target{Kind: "request", Subject: "work.none"})
	if m := testkit.Receive(t, dead); m.Subject != "carillon.dead.billing" || m.Header.Get("Carillon-Run-Id") != run.RunID {
		t.Errorf("the dead letter is %s %v %q", m.Subject, m.Header, m.Data)
	}
	for {
		m := testkit.Receive(t, events)
		if string(m.Data) == "forged" {
			t.Error("a forged event is received")
		}
		if m.Subject == "carillon.events.billing.run.dead" {
			break
		}
	}
	for i, got := range others {
		if len(got) > 0 {
			t.Errorf("client %d of others got %s", i, (<-got).Subject)
		}
	}
}

// TestDiscoveryByTenants: the service is found from each account, and only Carillon's own.
func TestDiscoveryByTenants(t *testing.T) {
	t.Parallel()
	e := startEstate(t, nil)
	other, err := micro.AddService(e.as("cluster"), micro.Config{Name: "ledger-internal", Version: "1.0.0"})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = other.Stop() }()
	for _, principal := range []string{"billing-viewer", "billing-operator", "stock-admin", "cluster"} {
		nc := e.as(principal)
		for _, subject := range []string{"$SRV.PING", "$SRV.INFO", "$SRV.STATS", "$SRV.PING.carillon", "$SRV.STATS.carillon"} {
			inbox := nc.NewInbox()
			got := listen(t, nc, inbox)
			if err := nc.PublishRequest(subject, inbox, nil); err != nil {
				t.Fatal(err)
			}
			for isFound := false; !isFound; {
				isFound = answersDiscovery(t, principal, testkit.Receive(t, got))
			}
			settle(t, nc)
			for len(got) > 0 {
				answersDiscovery(t, principal, <-got)
			}
		}
		if _, err := nc.Request("$SRV.PING.ledger-internal", nil, 5*time.Second); (err == nil) != (principal == "cluster") {
			t.Errorf("%s asks the other service: %v", principal, err)
		}
	}
}

// answersDiscovery reports whether a message is the answer of Carillon, and fails the test if it is one that a principal
// must not get.
func answersDiscovery(t *testing.T, principal string, m *nats.Msg) bool {
	if principal != "cluster" && strings.Contains(string(m.Data), "ledger-internal") {
		t.Errorf("%s finds a service of Carillon's account", principal)
	}
	return strings.Contains(string(m.Data), `"name":"carillon"`)
}

// TestDiscoveryIsBounded: a tenant that asks about the service without end gets no more answers than its rate allows, and
// another tenant gets its answers beside it. The questions about one instance and those about all have one rate.
func TestDiscoveryIsBounded(t *testing.T) {
	t.Parallel()
	e := startEstate(t, nil)
	loud, quiet := e.as("billing-viewer"), e.as("stock-viewer")
	const questions, answersMax = 5000, 2000 // at the rate of 50 a second, the test would take half a minute for these
	inbox := loud.NewInbox()
	answered := make(chan *nats.Msg, 2*questions)
	if _, err := loud.ChanSubscribe(inbox, answered); err != nil {
		t.Fatal(err)
	}
	for i := range questions {
		subject := []string{"$SRV.PING", "$SRV.INFO.carillon", "$SRV.STATS"}[i%3]
		if err := loud.PublishRequest(subject, inbox, nil); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := quiet.Request("$SRV.INFO.carillon", nil, 30*time.Second); err != nil {
		t.Errorf("another tenant is not told about the service: %v", err)
	}
	if _, err := loud.Request("carillon.v1.billing.status", []byte("{}"), 30*time.Second); err != nil {
		t.Error(err)
	}
	settle(t, loud)
	if n := len(answered); n > answersMax || n == 0 {
		t.Errorf("%d of %d questions are answered, want at most %d", n, questions, answersMax)
	}
}
