package shard

import (
	"slices"
	"sync"
)

// closings are services that take no further requests, and still answer those that they have. Any goroutine may add one while
// another goroutine waits: a node that has just begun to lead closes its service as a standby, and may be asked to hand over
// meanwhile. A [sync.WaitGroup] forbids that. The zero value has none. Safe for concurrent use.
type closings struct {
	mu      sync.Mutex
	ongoing []chan struct{} // each is closed at the end of one; those that have ended leave when the next one begins
}

// begin closes a service in the background, by calling f.
func (c *closings) begin(f func()) {
	ended := make(chan struct{})
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ongoing = append(slices.DeleteFunc(c.ongoing, hasEnded), ended)
	go func() {
		defer close(ended)
		f()
	}()
}

// wait returns when all that began before the call have ended.
func (c *closings) wait() {
	c.mu.Lock()
	ongoing := slices.Clone(c.ongoing)
	c.mu.Unlock()
	for _, ended := range ongoing {
		<-ended
	}
}

// hasEnded reports whether a channel is closed.
func hasEnded(ended chan struct{}) bool {
	select {
	case <-ended:
		return true
	default:
		return false
	}
}
