package server

import (
	"fmt"
	"testing"
	"time"

	"github.com/carillon-io/carillon/testkit"
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
			stall := func() (release func()) { // b answers, but cannot write to its log
				o.level(a, b)
				testkit.Until(t, "b is in step", func() bool { return syncs || a.first().shard.Node().StandbysInStep() == 1 })
				return b.first().shard.Stall()
			}
			expired := a.first().shard.Node().StandbyWaitsExpired
			release := stall()
			acknowledged := make(chan struct{})
			go func() { o.register("y", 1); close(acknowledged) }()
			if syncs {
				<-acknowledged
			}
			select {
			case <-acknowledged:
				if !syncs && expired() == 0 {
					t.Error("it was acknowledged before the standby had it")
				}
			case <-time.After(time.Second):
			}
			release()
			<-acknowledged
			release = stall()
			before := expired()
			for i := range 4 {
				o.register(fmt.Sprint("z", i), 1)
			}
			release()
			if held := expired() - before; held > 1 || syncs && expired() != 0 {
				t.Errorf("a standby with a disk that hangs held %d of four registrations up, and %d commits in all", held, expired())
			}
		})
	}
}
