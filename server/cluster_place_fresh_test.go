package server

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/carillon-io/carillon/client"
)

// testNodeReceivesCheckpoints: the jobs of a cluster have been changed many times, so the logs are far longer than the data. A
// node that comes receives the data, and not the logs.
func testNodeReceivesCheckpoints(t *testing.T) {
	p := newTroupe(t)
	nodes := []*Server{p.placed("a", t.TempDir(), nil), p.placed("b", t.TempDir(), nil), p.placed("c", t.TempDir(), nil)}
	const jobs, changes, size = 40, 16, 30_000
	c := p.client(false)
	for range changes {
		totals, err := c.PutAll(t.Context(), func(yield func(client.Job) bool) {
			for i := range jobs {
				text := make([]byte, size/2) // random: nothing makes it shorter
				rand.Read(text)
				if !yield(client.Job{Name: fmt.Sprint("job-", i), Schedule: "@every 1h", Payload: []byte(`"` + hex.EncodeToString(text) + `"`), Target: client.Target{Kind: "nats", Subject: "out"}}) {
					return
				}
			}
		}, nil)
		if err != nil || totals.Accepted != jobs {
			t.Fatalf("%+v, %v", totals, err)
		}
	}
	settled(t, nodes...)
	before := p.identities()
	var sent atomic.Int64
	sub, err := p.nc.Subscribe("_INBOX.>", func(m *nats.Msg) {
		if m.Header.Get("Carillon-Crc32c") != "" {
			sent.Add(int64(len(m.Data)))
		}
	})
	must(t, err)
	defer func() { _ = sub.Unsubscribe() }()
	must(t, p.nc.Flush())
	d := p.placed("d", t.TempDir(), nil)
	settled(t, append(nodes, d)...)
	held := int64(len(d.held()) + 1) // the first shard, too
	data := jobs * size * held / placeShards
	// On a slow machine the stores of the leaders have some former definitions as well, until they are compacted.
	if got := sent.Load(); got < data/4 || got > data*changes/2 {
		t.Errorf("%d bytes were sent in checkpoints for %d of %d shards; want about %d, and not the %d of the logs", got, held, placeShards, data, data*changes)
	}
	for name, id := range p.identities() {
		if before[name] != id {
			t.Errorf("%s was %s, and is %s", name, before[name], id)
		}
	}
}
