package server

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/carillon-io/carillon/bus/bustest"
	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/testkit"
)

// TestOutageThatLosesAMove: both copies of a shard move to other nodes, as the ones that have it drain, power fails everywhere, and NATS comes back as it was
// before the moves. The nodes that its places name start first, and have no data of the shard any more. They wait for the others,
// which have it all, although they have received it as a checkpoint of a later state than NATS has.
func TestOutageThatLosesAMove(t *testing.T) {
	t.Parallel()
	o := newOutage(t)
	o.lease = shortLease
	names := []string{"a", "b", "c", "d"}
	nodes := make(map[string]*Server)
	options := func(name string) Options {
		options := o.options(name, o.dirs[name])
		options.Shards, options.Copies, options.SpreadEvery, options.placeEvery = 2, 2, 100*time.Millisecond, 50*time.Millisecond
		return options
	}
	for _, name := range names {
		o.dirs[name] = t.TempDir()
		nodes[name] = o.startWith(options(name))
	}
	holders := func() (list []string) {
		for _, name := range names {
			if slices.Contains(nodes[name].held(), 1) {
				list = append(list, name)
			}
		}
		return list
	}
	testkit.Until(t, "shard 1 has two copies", func() bool { return len(holders()) == 2 })
	o.register("before", 20)
	for i := range 24 { // the log is so long then that a node without data receives a checkpoint
		o.putBig(fmt.Sprintf("big-%d", i), 200<<10)
	}
	old := holders()
	image := o.image()
	o.register("between", 20)
	for _, name := range old {
		testkit.Until(t, name+" drains", func() bool { // once it has been heard for a while since NATS was off
			return o.place(client.PlaceRequest{Verb: client.PlaceDrain, Node: name}) == nil
		})
	}
	testkit.Until(t, "the copies are on the other nodes", func() bool {
		now := holders()
		return len(now) == 2 && !slices.Contains(old, now[0]) && !slices.Contains(old, now[1])
	})
	o.register("after", 20)
	for _, name := range names {
		o.cut(nodes[name])
	}
	o.lose(image)

	started := make(map[string]chan *Server)
	begin := func(name string) (addr string) {
		again := options(name)
		again.HTTPListen = bustest.FreeAddrs(t, 1)[0]
		ready := make(chan *Server, 1)
		started[name] = ready
		go func() {
			s, err := Start(t.Context(), again)
			if err != nil {
				t.Errorf("start %s: %v", name, err)
				return
			}
			t.Cleanup(func() { _ = s.Close(context.Background()) })
			ready <- s
		}()
		return again.HTTPListen
	}
	for _, name := range old {
		addr := begin(name)
		testkit.Until(t, name+" waits for the others", func() bool { return unready(addr) != "" })
	}
	for _, name := range names {
		if !slices.Contains(old, name) {
			begin(name)
		}
	}
	for _, name := range names {
		nodes[name] = testkit.Receive(t, started[name])
	}
	testkit.Until(t, "all jobs are there", func() bool {
		_, err := o.client(false).Status(t.Context())
		return err == nil && len(o.missing("before", 20)) == 0
	})
	if lost := append(o.missing("between", 20), o.missing("after", 20)...); len(lost) > 0 {
		t.Errorf("registered before the outage, and lost: %v", lost)
	}
	testkit.Until(t, "shard 1 has two copies again", func() bool { return len(holders()) == 2 })
}

// putBig puts a job with a payload of so many bytes.
func (o *outage) putBig(name string, n int) {
	o.t.Helper()
	j := client.Job{Name: name, Schedule: "@every 1h", Target: client.Target{Kind: "nats", Subject: "out.big"}, Payload: fmt.Appendf(nil, "%q", bytes.Repeat([]byte("x"), n))}
	testkit.Retry(o.t, "put "+name, func(ctx context.Context) error { // a copy may be about to move, and the disk busy
		_, _, err := o.client(false).Put(ctx, j)
		return err
	})
}

// missing returns which of the jobs that register has put are not there.
func (o *outage) missing(what string, n int) (list []string) {
	for i := range n {
		name := fmt.Sprintf("%s-%d", what, i)
		if _, err := o.client(false).Get(o.t.Context(), name); err != nil {
			list = append(list, name+": "+err.Error())
		}
	}
	return list
}
