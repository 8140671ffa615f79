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
			begun := time.Now()
			o.register("z", 1)
			held := time.Since(begun)
			o.register("z", 3)
			release()
			if all := time.Since(begun); held > 4*time.Second || all > held+2*time.Second {
				t.Errorf("a standby with a slow disk held one up for %s, and four for %s", held, all)
			}
		})
	}
}
