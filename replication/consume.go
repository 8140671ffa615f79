package replication

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// The bounds for tailing the stream. They bound the memory of a standby that is behind: at most readAhead
// messages of a mebibyte each, and pullBytes in the client.
const (
	readAhead  = 64               // messages buffered between the connection and the log
	pullBytes  = 8 << 20          // bytes requested at a time
	pullExpiry = 30 * time.Second // life of such a request; each costs an idle follower two messages
	// pullBeat is the time between signs of life of an idle consumer; the client begins anew when they are missing. A follower that
	// lags behind the leader's beat reads directly long before, and begins a session with another consumer then.
	pullBeat = 5 * time.Second
)

// message is one message of the stream.
type message struct {
	seq  uint64
	data []byte
}

// consume delivers the messages after the cursor's place, until ctx ends. It does not wait until the consumer
// exists. That can take as long as JetStream has no leader, and this node may have to lead meanwhile. The
// channel is never closed; the reader stops at the end of ctx. It must not depend on an unbroken sequence: a
// message may come twice, or be missing from the stream. The cursor judges by sequence and position, and check
// finds what is missing.
func (n *Node) consume(ctx context.Context) <-chan message {
	messages := make(chan message, readAhead)
	from := n.writer.seq + 1
	n.watchers.Go(func() {
		for ctx.Err() == nil {
			err := n.startConsumer(ctx, from, messages)
			if err == nil {
				return
			}
			if ctx.Err() == nil {
				n.warn("the log cannot be tailed; trying again", err)
			}
			n.wait(ctx, retryPause)
		}
	})
	return messages
}

// startConsumer sends the messages from a sequence on to a channel, until ctx ends.
func (n *Node) startConsumer(ctx context.Context, from uint64, messages chan<- message) error {
	start, cancel := context.WithTimeout(ctx, 5*callTimeout)
	defer cancel()
	consumer, err := n.stream.handle().OrderedConsumer(start, jetstream.OrderedConsumerConfig{
		DeliverPolicy: jetstream.DeliverByStartSequencePolicy, OptStartSeq: from,
	})
	if err != nil {
		return fmt.Errorf("replication: tail the stream %s: %w", n.stream.name, err)
	}
	tailing, err := consumer.Consume(func(m jetstream.Msg) {
		meta, err := m.Metadata()
		if err != nil {
			return // not a message of the stream
		}
		select {
		case messages <- message{meta.Sequence.Stream, m.Data()}:
		case <-ctx.Done():
		}
	}, jetstream.PullMaxBytes(pullBytes), jetstream.PullExpiry(pullExpiry), jetstream.PullHeartbeat(pullBeat),
		jetstream.ConsumeErrHandler(func(_ jetstream.ConsumeContext, err error) {
			n.opts.Logger.Debug("the tail of the log was interrupted", slog.Any("error", err))
		}))
	if err != nil {
		return fmt.Errorf("replication: tail the stream %s: %w", n.stream.name, err)
	}
	context.AfterFunc(ctx, tailing.Stop)
	return nil
}
