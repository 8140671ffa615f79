package scheduler

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/carillon-io/carillon/testkit"
)

// TestTrust lets the tick and the feeders of a real engine run without trust: nothing leaves, and the tick
// does not spin. Then it is back, and everything leaves.
func TestTrust(t *testing.T) {
	const jobs = 20
	var trust, asked atomic.Int64
	opts, sender := startWorker(t, &memLog{}, newMemStore(), jobs)
	opts.Trust = func() time.Duration { asked.Add(1); return time.Duration(trust.Load()) }
	e := must(Open(opts))
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	served := make(chan error, 1)
	go func() { served <- e.Serve(ctx) }()
	for i := range jobs {
		if _, _, err := e.Put(ctx, oneShot(fmt.Sprint(i), 0), nil); err != nil {
			t.Fatal(err)
		}
	}
	wait := func(n int64) {
		before := asked.Load()
		testkit.Poll(ctx, func() bool { return asked.Load() >= before+n })
	}
	const distrustPause = 5 * time.Millisecond // of the pad, while nothing may leave
	// Each launch asks when its row has been read, whenever that is; afterwards only the tick does.
	for took := time.Duration(0); took < 20*distrustPause/2; {
		if ctx.Err() != nil {
			t.Fatalf("the tick keeps asking 20 times within %s", took)
		}
		since := time.Now()
		wait(20)
		took = time.Since(since)
	}
	if s := e.Status(); len(sender.seen) != 0 || s.Waiting != jobs || s.InFlight != 0 {
		t.Errorf("%d runs left without trust; %+v", len(sender.seen), s)
	}
	trust.Store(int64(time.Minute))
	select {
	case <-sender.first:
	case <-ctx.Done():
		t.Fatal("with trust nothing leaves")
	}
	e.Hold()
	e.Settle(ctx)
	if s := e.Status(); s.Succeeded != jobs || s.Live != 0 {
		t.Errorf("settled with %+v", s)
	}
	if _, _, err := e.Put(ctx, oneShot("held", 0), nil); err != nil {
		t.Error(err)
	}
	testkit.Poll(ctx, func() bool { return e.Status().Waiting > 0 })
	cancel()
	if err := <-served; err != nil || len(sender.seen) != jobs {
		t.Errorf("%v; %d runs left, %d before the hold", err, len(sender.seen), jobs)
	}
}
