package client_test

import (
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/carillon-io/carillon/client"
)

// BenchmarkPut asks a program that answers at once, so that what it costs is the client's way of asking: the NATS server,
// which is in the process too, costs the same whatever the client does.
func BenchmarkPut(b *testing.B) {
	nc, err := nats.Connect(serverURL)
	if err != nil {
		b.Fatal(err)
	}
	defer nc.Close()
	reply := nats.Msg{Header: nats.Header{"Carillon-Reply": {"jobs.put"}}, Data: []byte(`{"job":{"name":"a"},"created":true}`)}
	if _, err := nc.Subscribe("bench.v1.default.jobs.put", func(m *nats.Msg) {
		reply.Subject = m.Reply
		_ = nc.PublishMsg(&reply)
	}); err != nil {
		b.Fatal(err)
	}
	if err := nc.Flush(); err != nil {
		b.Fatal(err)
	}
	c, err := client.Connect(serverURL, client.Options{Prefix: "bench"})
	if err != nil {
		b.Fatal(err)
	}
	defer c.Close()
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := c.Put(b.Context(), client.Job{Name: "a", Schedule: "@daily", Target: client.Target{Kind: "nats", Subject: "a"}}); err != nil {
			b.Fatal(err)
		}
	}
}
