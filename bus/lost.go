package bus

import (
	"context"
	"errors"
	"time"
)

// ErrJetStreamLost is the error of a member of a cluster whose NATS server goes on without JetStream: its peers would
// count it as present, but get no vote and no copy of the log from it.
var ErrJetStreamLost = errors.New("the embedded NATS server has given JetStream up, as it does when its disk is full or fails; " +
	"its log lines say why: make room in the data directory, or mend the disk, and start this node again")

// lostEvery is the time between two checks of JetStream. A peer without JetStream costs the cluster its redundancy
// only, so a second is soon enough; the check itself is a read of memory.
const lostEvery = time.Second

// WatchJetStream returns ErrJetStreamLost when the embedded server has lost JetStream, and nil when ctx ends. There
// must be an embedded server. The process ends rather than goes on, because its peers cannot tell such a member from a
// healthy one, and a new start opens its store again.
func (b *Bus) WatchJetStream(ctx context.Context) error {
	tick := time.NewTicker(lostEvery)
	defer tick.Stop()
	for b.embedded.JetStreamEnabled() {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
	return ErrJetStreamLost
}
