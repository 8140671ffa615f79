package examples

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// TestOnce gives the stream of go-exactly-once, between two starts, what its worker must bear: messages that are no runs,
// and each run once more, as if the duplicate window were over.
func TestOnce(t *testing.T) {
	_, server := startServer(t)
	ctx, cancel := context.WithTimeout(context.Background(), exampleTime)
	defer cancel()
	e := programs[slices.IndexFunc(programs, func(e example) bool { return e.name == "go-exactly-once" })]
	start := func() string {
		t.Helper()
		out, err := e.start(ctx, server, "").CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		return string(out)
	}
	first := e.check(t, start())

	nc, err := nats.Connect(server.NATS)
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	publish := func(header nats.Header) {
		t.Helper()
		if _, err := js.PublishMsg(ctx, &nats.Msg{Subject: "examples.once", Header: header, Data: []byte(`{}`)}); err != nil {
			t.Fatal(err)
		}
	}
	publish(nil)
	publish(nats.Header{"Carillon-Run-Id": {"no such id"}})
	for id := range first {
		publish(nats.Header{"Carillon-Run-Id": {id}})
	}

	out := start()
	for id := range e.check(t, out) {
		if first[id] {
			t.Errorf("run %s has a second result", id)
		}
	}
	if dropped := strings.Count(out, "dropped a message"); dropped != 2 {
		t.Errorf("dropped %d messages, want 2: %s", dropped, out)
	}
	if again := strings.Count(out, "again run "); again < len(first) {
		t.Errorf("%d runs came again, want %d: %s", again, len(first), out)
	}
	consumer, err := js.Consumer(ctx, "EXAMPLES", "worker")
	if err != nil {
		t.Fatal(err)
	}
	// The two starts have read six runs and what came between them, and nothing of it waits for an acknowledgement.
	if info, err := consumer.Info(ctx); err != nil || info.NumAckPending > 0 || info.AckFloor.Stream < 11 {
		t.Errorf("the consumer: %+v, %v", info, err)
	}
}
