package client_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/carillon-io/carillon/client"
)

// TestInject: headers that a program adds go with each request, beside those of the client, and leave room for
// themselves in the largest of messages.
func TestInject(t *testing.T) {
	nc, err := nats.Connect(serverURL)
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	seen := make(chan nats.Header, 256)
	sub, err := nc.Subscribe("carillon.v1.inject.>", func(m *nats.Msg) { seen <- m.Header })
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = sub.Unsubscribe() }()
	type key struct{}
	c, err := client.Connect(serverURL, client.Options{Tenant: "inject", By: "alice", Inject: func(ctx context.Context, h nats.Header) {
		h["traceparent"] = []string{ctx.Value(key{}).(string)}
		h["tracestate"] = []string{strings.Repeat("x", 512)}
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	ctx := context.WithValue(t.Context(), key{}, "parent")
	jobs := make([]client.Job, 40)
	for i := range jobs { // more than one message has room for
		jobs[i] = client.Job{
			Name: "j" + strings.Repeat("i", i), Schedule: "@yearly", Target: client.Target{Kind: "nats", Subject: "out"},
			Payload: []byte(`"` + strings.Repeat("p", 250_000) + `"`),
		}
	}
	if _, err := c.PutMany(ctx, jobs[:3]); err != nil {
		t.Fatal(err)
	}
	if h := <-seen; h.Get("traceparent") != "parent" || h.Get("Carillon-By") != "alice" {
		t.Errorf("asked with %v", h)
	}
	totals, err := c.PutAll(ctx, slices.Values(jobs), nil)
	if err != nil || totals.Accepted != len(jobs) {
		t.Errorf("%+v, %v", totals, err)
	}
}
