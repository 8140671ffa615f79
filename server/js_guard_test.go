package server_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	natsserver "github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-io/carillon/testkit"
)

// TestTenantsUseJetStream: what programs do with JetStream passes the guard: streams that copy from others, buckets and
// watches, consumers that are asked and those that deliver to an inbox or a subject of the tenant.
func TestTenantsUseJetStream(t *testing.T) {
	t.Parallel()
	e := startEstate(t, nil)
	admin, worker := e.as("billing-admin"), e.as("billing-operator")
	js := jetStreamAs(t, admin)
	for _, config := range []jetstream.StreamConfig{
		{Name: "S", Subjects: []string{"s.*"}},
		{Name: "MIRROR", Mirror: &jetstream.StreamSource{Name: "S"}},
		{Name: "SOURCED", Sources: []*jetstream.StreamSource{{Name: "S", FilterSubject: "s.a"}}},
	} {
		config.MaxBytes = 1 << 20
		if _, err := js.CreateStream(t.Context(), config); err != nil {
			t.Fatalf("%s: %v", config.Name, err)
		}
	}
	legacy, err := worker.JetStream()
	if err != nil {
		t.Fatal(err)
	}
	pushed := make(chan *nats.Msg, 4)
	if _, err := legacy.ChanSubscribe("s.*", pushed, nats.OrderedConsumer()); err != nil {
		t.Fatal(err)
	}
	at := listen(t, worker, "work.pushed")
	if _, err := legacy.AddConsumer("S", &nats.ConsumerConfig{Durable: "push", DeliverSubject: "work.pushed", AckPolicy: nats.AckNonePolicy}); err != nil {
		t.Fatal(err)
	}
	if _, err := jetStreamAs(t, worker).Publish(t.Context(), "s.a", []byte("x")); err != nil {
		t.Fatal(err)
	}
	testkit.Receive(t, pushed)
	testkit.Receive(t, at)
	for _, name := range []string{"S", "MIRROR", "SOURCED"} {
		c, err := jetStreamAs(t, worker).CreateConsumer(t.Context(), name, jetstream.ConsumerConfig{AckPolicy: jetstream.AckExplicitPolicy})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if m, err := c.Next(jetstream.FetchMaxWait(10 * time.Second)); err != nil || string(m.Data()) != "x" || m.DoubleAck(t.Context()) != nil {
			t.Errorf("%s: %v, %v", name, m, err)
		}
	}
	watchesBucket(t, js)
	watchesBucket(t, jetStreamAs(t, e.as("cluster")))
}

// watchesBucket makes a bucket and watches it, which takes a consumer with a filter.
func watchesBucket(t *testing.T, js jetstream.JetStream) {
	t.Helper()
	bucket, err := js.CreateKeyValue(t.Context(), jetstream.KeyValueConfig{Bucket: "b", MaxBytes: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := bucket.PutString(t.Context(), "k", "v"); err != nil {
		t.Fatal(err)
	}
	w, err := bucket.WatchAll(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if entry := testkit.Receive(t, w.Updates()); entry == nil || string(entry.Value()) != "v" {
		t.Errorf("the watch has %v", entry)
	}
}

// TestConsumersDeliverWhereTenantsPublish: no consumer delivers what is stored on the subjects of Carillon, of NATS and of
// replies through services.
func TestConsumersDeliverWhereTenantsPublish(t *testing.T) {
	t.Parallel()
	e := startEstate(t, nil)
	if _, err := jetStreamAs(t, e.as("billing-admin")).CreateStream(t.Context(), jetstream.StreamConfig{Name: "S", Subjects: []string{"s.*"}, MaxBytes: 1 << 20}); err != nil {
		t.Fatal(err)
	}
	legacy, err := e.as("billing-operator").JetStream()
	if err != nil {
		t.Fatal(err)
	}
	for _, to := range []string{"carillon.dead.billing", "carillon.events.billing.x", "carillon.v1.billing.jobs.delete", "$JS.API.STREAM.DELETE.S", "$SRV.PING", "_R_.x", "_INBOX.carillon-runs.x"} {
		var refusal *nats.APIError
		_, err := legacy.AddConsumer("S", &nats.ConsumerConfig{Durable: "c", DeliverSubject: to, AckPolicy: nats.AckNonePolicy})
		if !errors.As(err, &refusal) || refusal.Code != 403 || !strings.Contains(refusal.Description, "want subjects") {
			t.Errorf("to %s: %v", to, err)
		}
	}
	for range legacy.Consumers("S") {
		t.Error("there is a consumer")
	}
}

// TestTenantsAskNotForConnections: the list of connections is for cluster admins, from wherever in the account of a tenant it
// is asked for; each client may ask who it is.
func TestTenantsAskNotForConnections(t *testing.T) {
	t.Parallel()
	e := startEstate(t, nil)
	ask := func(nc *nats.Conn, subject string) (refused bool) {
		t.Helper()
		m, err := nc.Request(subject, nil, 10*time.Second)
		var response natsserver.ServerAPIResponse
		if err == nil {
			err = json.Unmarshal(m.Data, &response)
		}
		if err != nil {
			t.Fatalf("%s: %v", subject, err)
		}
		return response.Error != nil
	}
	cluster := e.as("cluster")
	for _, subject := range []string{"$SYS.REQ.ACCOUNT.PING.CONNZ", "$SYS.REQ.SERVER.PING.CONNZ", "$SYS.REQ.ACCOUNT.PING.STATZ"} {
		for _, who := range []string{"billing-admin", "billing-viewer", "stock-operator"} {
			if !ask(e.as(who), subject) {
				t.Errorf("%s has an answer for %s", subject, who)
			}
		}
		if ask(cluster, subject) {
			t.Errorf("%s has no answer for a cluster admin", subject)
		}
	}
	if ask(e.as("billing-operator"), "$SYS.REQ.USER.INFO") {
		t.Error("a client may not ask who it is")
	}
}
