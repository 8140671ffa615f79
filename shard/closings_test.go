package shard

import (
	"sync"
	"sync/atomic"
	"testing"
)

// TestClosings: one goroutine begins closings while another one waits, over and over. Each wait covers what began before it. The
// race detector would object to a sync.WaitGroup here.
func TestClosings(t *testing.T) {
	var c closings
	var done atomic.Int32
	for range 100 {
		before := done.Load()
		hold := make(chan struct{})
		c.begin(func() { <-hold; done.Add(1) })
		var other sync.WaitGroup
		other.Go(func() { c.begin(func() {}) })
		close(hold)
		c.wait()
		if done.Load() != before+1 {
			t.Fatal("wait returned before what began before it had ended")
		}
		other.Wait()
	}
	c.wait()
	c.begin(func() {})
	if len(c.ongoing) != 1 {
		t.Errorf("%d are remembered; want the last one alone", len(c.ongoing))
	}
}
