package server

import (
	"fmt"
	"testing"
	"time"
)

// TestAcknowledgedIsOnTheStandbysDisk: where NATS is not known to have on disk what it acknowledges, an acknowledgement waits
// for the disk of a standby that is in step, and only for so long. Where it is known, it waits for none.
func TestAcknowledgedIsOnTheStandbysDisk(t *testing.T) {
	t.Parallel()
	for _, syncs := range []bool{false, true} {
		t.Run(fmt.Sprintf("NATS syncs %v", syncs), func(t *testing.T) {
			o := newOutage(t)
			start := func(name string) *Server {
				options := o.options(name, o.dirs[name])
				options.NATSSyncs = syncs
				return o.startWith(options)
			}
			a, b := start("a"), start("b")
			o.register("x", 5)
			o.level(a, b)
			release := b.first().shard.Stall() // the standby answers, but cannot write to its log
			acknowledged := make(chan struct{})
			go func() { o.register("y", 1); close(acknowledged) }()
			select {
			case <-acknowledged:
				if !syncs {
					t.Error("it was acknowledged before the standby had it")
				}
			case <-time.After(time.Second):
				if syncs {
					t.Error("it was not acknowledged, though NATS has it on disk")
				}
			}
			release()
			<-acknowledged
			o.level(a, b)
			release = b.first().shard.Stall()
			held := 0
			for i := range 4 {
				begun := time.Now()
				o.register(fmt.Sprint("z", i), 1)
				if time.Since(begun) > 1900*time.Millisecond { // replication waits 2 s for that disk
					held++
				}
			}
			release()
			if held > 1 {
				t.Errorf("a standby with a disk that hangs held %d of four registrations up", held)
			}
		})
	}
}
