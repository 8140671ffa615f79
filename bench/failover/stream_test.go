package main

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-io/carillon/testkit"
)

// TestServers runs the NATS servers of the topology outside as processes of their own: the leader of the
// log goes where it is told, and when its process is killed another takes its place.
func TestServers(t *testing.T) {
	if testing.Short() {
		t.Skip("an election takes up to nine seconds")
	}
	c := &cluster{net: &network{}}
	t.Cleanup(c.close)
	if err := c.startServers(t.TempDir()); err != nil {
		t.Fatal(err)
	}
	conn, err := connect(site{}, c.urls, "test")
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	js, err := jetstream.New(conn)
	if err != nil {
		t.Fatal(err)
	}
	ctx, s := t.Context(), streams{conn}
	testkit.Retry(t, "create the stream", func(ctx context.Context) error {
		_, err := js.CreateStream(ctx, jetstream.StreamConfig{Name: logPrefix + "test", Subjects: []string{"log.*"}, Replicas: members})
		return err
	})

	info, err := s.log(ctx)
	if err != nil {
		t.Fatal(err)
	}
	next := c.servers[0].name
	if info.Cluster.Leader == next {
		next = c.servers[1].name
	}
	if err := s.lead(ctx, next); err != nil {
		t.Fatal(err)
	}
	if info, err = s.log(ctx); err != nil || info.Cluster.Leader != next {
		t.Fatalf("the log is to be led by %s: %+v, %v", next, info, err)
	}
	at := slices.IndexFunc(c.servers, func(m *member) bool { return m.name == next })
	c.servers[at].proc.Kill()
	if err := c.gone(); err == nil {
		t.Error("nobody misses the server that was killed")
	}
	testkit.Retry(t, "write what is no record", s.junk)
	if err := c.servers[at].start(); err != nil {
		t.Fatal(err)
	}
	testkit.Retry(t, "all members are in step", s.inStep)
	if info, err := s.log(ctx); err != nil || info.Cluster.Leader == "" {
		t.Errorf("%+v, %v", info, err)
	}
	if err := s.delete(ctx); err != nil {
		t.Error(err)
	}
	testkit.Retry(t, "the stream of the log is gone", func(ctx context.Context) error {
		if _, err := s.log(ctx); err == nil {
			return fmt.Errorf("the stream of the log is still there")
		}
		return nil
	})
}
