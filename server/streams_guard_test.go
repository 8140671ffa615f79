package server_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/testkit"
)

// jetStreamAs returns the JetStream of the account of a principal.
func jetStreamAs(t *testing.T, nc *nats.Conn) jetstream.JetStream {
	t.Helper()
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	return js
}

// TestStreamsTakeNoRequests: an admin of a tenant makes no stream that would receive or answer what is sent to Carillon, or
// the replies, in whichever way, and may make all others.
func TestStreamsTakeNoRequests(t *testing.T) {
	t.Parallel()
	e := startEstate(t, nil)
	nc := e.as("billing-admin")
	js := jetStreamAs(t, nc)
	bad := map[string]jetstream.StreamConfig{"to requests": {RePublish: &jetstream.RePublish{Source: ">", Destination: "carillon.v1.billing.jobs.delete"}},
		"to the place of a token": {RePublish: &jetstream.RePublish{Source: "s.*", Destination: "carillon.{{wildcard(1)}}.x"}},
		"to notices":              {RePublish: &jetstream.RePublish{Source: ">", Destination: "carillon.dead.billing"}},
		"to JetStream":            {RePublish: &jetstream.RePublish{Source: ">", Destination: "$JS.API.STREAM.DELETE.X"}},
		"to everything":           {RePublish: &jetstream.RePublish{Source: ">", Destination: ">"}},
		"from elsewhere":          {Sources: []*jetstream.StreamSource{{Name: "X", External: &jetstream.ExternalStream{APIPrefix: "carillon.v1.billing.jobs", DeliverPrefix: "carillon.v1.billing.x"}}}},
	}
	for _, subject := range []string{
		"carillon.v1.billing.>", "carillon.v1.billing.jobs.get", "carillon.*.billing.jobs.get", "*.v1.billing.>", "*.*.*.*.*", "carillon.>", "carillon.account.>",
		">", "_INBOX.>", "_INBOX.*.*", "_R_.>", "_other.>", "$SRV.>", "$SRV.PING", "$JS.>", "$JS.API.STREAM.>", "$SYS.>",
	} {
		bad[subject] = jetstream.StreamConfig{Subjects: []string{"fine." + strings.ReplaceAll(subject[:1], "*", "x"), subject}}
		noAck := jetstream.StreamConfig{Subjects: []string{subject}, NoAck: true}
		bad[subject+" without answers"] = noAck
	}
	if _, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "S", Subjects: []string{"s.*"}, MaxBytes: 1 << 20}); err != nil {
		t.Fatal(err)
	}
	for what, config := range bad {
		config.Name, config.MaxBytes = "BAD", 1<<20
		if len(config.Subjects) == 0 && config.Sources == nil {
			config.Subjects = []string{"bad.*"}
		}
		var refusal *jetstream.APIError
		if _, err := js.CreateStream(t.Context(), config); !errors.As(err, &refusal) || refusal.Code != 403 || !strings.Contains(refusal.Description, "want") && !strings.Contains(refusal.Description, "leave") {
			t.Errorf("%s: %v", what, err)
		}
		config.Name = "S"
		if _, err := js.UpdateStream(t.Context(), config); !errors.As(err, &refusal) || refusal.Code != 403 {
			t.Errorf("%s by an update: %v", what, err)
		}
	}
	for subject, body := range map[string]string{
		"$JS.API.STREAM.CREATE.BAD":  `{"name":"BAD","subjects":["x"],"max_bytes":1000}{"name":"BAD","subjects":["carillon.v1.billing.>"],"max_bytes":1000}`,
		"$JS.API.STREAM.UPDATE.S":    `{"name":"S","Subjects":["_INBOX.>"],"max_bytes":1000}`,
		"$JS.API.STREAM.RESTORE.BAD": `{"config":{"name":"BAD","subjects":["carillon.v1.billing.>"],"max_bytes":1000},"state":{}}`,
	} {
		if m, err := nc.Request(subject, []byte(body), 5*time.Second); err != nil || !strings.Contains(string(m.Data), `"code":403`) {
			t.Errorf("%s: %v, %v", subject, m, err)
		}
	}
	for _, subject := range []string{"work.>", "carillon.dead.billing", "carillon.events.billing.>", "$KV.b.>", "$O.b.C.>", "$JS.EVENT.ADVISORY.>"} {
		name := strings.NewReplacer(".", "_", ">", "all", "$", "").Replace(subject)
		if _, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: name, Subjects: []string{subject}, MaxBytes: 1 << 10}); err != nil {
			t.Errorf("%s: %v", subject, err)
		}
	}
	names := 0
	for range js.StreamNames(t.Context()).Name() {
		names++
	}
	if names != 7 {
		t.Errorf("there are %d streams; want 7", names)
	}
	if _, err := e.of("billing", "billing-admin").List(t.Context(), client.ListRequest{}); err != nil {
		t.Error(err)
	}
}

// TestStreamsOrderNoStreams: what a stream or a consumer sends to JetStream changes no stream, whoever has made it. An
// operator may make consumers, and stored messages are requests of its choice.
func TestStreamsOrderNoStreams(t *testing.T) {
	t.Parallel()
	e := startEstate(t, nil)
	admin, worker := e.as("billing-admin"), e.as("billing-operator")
	js := jetStreamAs(t, admin)
	if _, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "S", Subjects: []string{"s.*"}, MaxBytes: 1 << 20}); err != nil {
		t.Fatal(err)
	}
	if _, err := worker.Request("$JS.API.CONSUMER.DURABLE.CREATE.S.pull", []byte(`{"stream_name":"S","config":{"durable_name":"pull","ack_policy":"none"}}`), 5*time.Second); err != nil {
		t.Fatal(err)
	}
	made := listen(t, worker, "evil.done")
	for _, to := range []string{"$JS.API.STREAM.CREATE.EVIL", "$JS.API.STREAM.DELETE.S", "evil.done"} {
		if err := worker.Publish("s.evil", []byte(`{"name":"EVIL","subjects":["evil"],"max_bytes":1000}`)); err != nil {
			t.Fatal(err)
		}
		if err := worker.PublishRequest("$JS.API.CONSUMER.MSG.NEXT.S.pull", to, []byte("1")); err != nil {
			t.Fatal(err)
		}
	}
	testkit.Receive(t, made)
	// The guard answers one request after the other, so the requests of the consumers have been decided before this one.
	if _, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "AFTER", Subjects: []string{"after"}, MaxBytes: 1 << 10}); err != nil {
		t.Fatal(err)
	}
	if _, err := js.Stream(t.Context(), "EVIL"); !errors.Is(err, jetstream.ErrStreamNotFound) {
		t.Errorf("a consumer has made a stream: %v", err)
	}
	if _, err := js.Stream(t.Context(), "S"); err != nil {
		t.Errorf("a consumer has deleted its stream: %v", err)
	}
}
