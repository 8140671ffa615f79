package server

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"sync"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-io/carillon/testkit"
)

// TestFormerTenantComesBack: a tenant that the file of rights lacked while the nodes started has its streams as soon as the file names
// it again. Meanwhile nobody connects to its account.
func TestFormerTenantComesBack(t *testing.T) {
	t.Parallel()
	nodes := nodeOptions(t, 3)
	path := writeRights(t)
	for i := range nodes {
		nodes[i].Auth = path
	}
	servers := startAll(t.Context(), t, nodes...)
	nc, _ := clientOf(t, servers[0], "billing", "billing")
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	testkit.Retry(t, "a stream takes a message", func(ctx context.Context) error {
		if _, err := js.CreateOrUpdateStream(ctx, jetstream.StreamConfig{Name: "KEEP", Subjects: []string{"keep.>"}, MaxBytes: 1 << 20, Replicas: 3}); err != nil {
			return err
		}
		_, err := js.Publish(ctx, "keep.a", []byte("a"), jetstream.WithMsgID("a"))
		return err
	})
	nc.Close()

	full, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	replace := func(text []byte) {
		if err := os.WriteFile(path+".new", text, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(path+".new", path); err != nil {
			t.Fatal(err)
		}
	}
	without := bytes.ReplaceAll(bytes.Replace(full, []byte("billing: {nats: {storage: 32MiB}}, "), nil, 1), []byte("tenant: billing"), []byte("tenant: stock"))
	replace(without)
	closeAll(t, servers)
	servers = startAll(t.Context(), t, nodes...)
	if nc, err := nats.Connect(servers[0].Ready().NATS, nats.Token("all"), nats.UserInfo("billing", "")); err == nil {
		nc.Close()
		t.Error("a client is in the account of a tenant that there is not")
	}

	replace(full)
	for _, s := range servers {
		s.Reload()
	}
	testkit.Retry(t, "the stream is there, and takes messages", func(ctx context.Context) error {
		nc, err := nats.Connect(servers[1].Ready().NATS, nats.Token("billing"))
		if err != nil {
			return err
		}
		defer nc.Close()
		js, err := jetstream.New(nc)
		if err != nil {
			return err
		}
		ack, err := js.Publish(ctx, "keep.b", []byte("b"), jetstream.WithMsgID("b"))
		if err == nil && ack.Sequence != 2 {
			err = fmt.Errorf("the message has the sequence %d, want 2", ack.Sequence)
		}
		return err
	})
}

// closeAll closes nodes side by side, as the last one would wait for the others.
func closeAll(t *testing.T, servers []*Server) {
	t.Helper()
	var all sync.WaitGroup
	for _, s := range servers {
		all.Go(func() {
			if err := s.Close(context.Background()); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
}
