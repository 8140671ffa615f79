package bus

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-io/carillon/testkit"
)

// TestForgetMember: a server that is gone for good counts no more, and its replica of a stream goes to another server, so that the
// next one may die.
func TestForgetMember(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("elections of NATS take seconds")
	}
	buses := openBuses(t, nodeOptions(t, 4)...)
	a, gone := buses[0], buses[3]
	if id := a.embedded.Node(); id != peerID("a") {
		t.Fatalf("NATS calls the server a %s, and not %s", id, peerID("a"))
	}
	js, err := jetstream.New(a.api)
	if err != nil {
		t.Fatal(err)
	}
	// Five replicas do not fit, so some of these streams have one on each server.
	for i := range 4 {
		testkit.Retry(t, "create a stream", func(ctx context.Context) error {
			_, err := js.CreateStream(ctx, jetstream.StreamConfig{Name: fmt.Sprintf("LOG%d", i), Subjects: []string{fmt.Sprintf("log.%d", i)}, Replicas: 3})
			return err
		})
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if err := a.ForgetMember(ctx, "d"); err == nil {
		t.Error("a server that is connected is forgotten")
	}
	for node, want := range map[string]bool{"a": true, "d": true, "nobody": false} {
		if is, err := buses[1].IsMember(t.Context(), node); is != want || err != nil {
			t.Errorf("%s is a member: %t, %v", node, is, err)
		}
	}
	gone.Close()
	testkit.Until(t, "the route is down", func() bool { return !a.IsConnected("d") })
	ctx, cancel = context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	if err := a.ForgetMember(ctx, "d"); err != nil {
		t.Fatal(err)
	}
	testkit.Until(t, "the others are the members", func() bool { _, size := a.members(); return size == 3 })
	for i := range 4 {
		testkit.Retry(t, "each stream has three current replicas", func(ctx context.Context) error {
			s, err := js.Stream(ctx, fmt.Sprintf("LOG%d", i))
			if err != nil {
				return err
			}
			info := s.CachedInfo().Cluster
			if info.Leader == "" || info.Leader == "d" || len(info.Replicas) != 2 {
				return fmt.Errorf("its leader is %q, and it has %d replicas besides", info.Leader, len(info.Replicas))
			}
			for _, r := range info.Replicas {
				if r.Name == "d" || r.Offline || !r.Current {
					return fmt.Errorf("replica %+v", r)
				}
			}
			return nil
		})
	}
	if is, err := a.IsMember(ctx, "d"); is || err != nil {
		t.Errorf("it is a member still: %t, %v", is, err)
	}
	if err := a.ForgetMember(ctx, "d"); err != nil {
		t.Errorf("one that is no member: %v", err)
	}
}
