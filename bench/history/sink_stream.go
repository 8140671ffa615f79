package history

import (
	"context"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// The jetstream target is a stream. The sink reads its messages from time to time; the time of arrival
// is the timestamp of the stream.

// SinkStream is the name of that stream. Programs that break the stream's servers need it.
const SinkStream = "CRASH"

// duplicateWindow is longer than any run of this program, so that the stream must have each run once.
const duplicateWindow = 20 * time.Minute

// OpenStream creates the stream with a number of replicas. It is called once, before the first delivery.
func (s *Sink) OpenStream(ctx context.Context, replicas int) error {
	js, err := jetstream.New(s.conn)
	if err != nil {
		return err
	}
	_, err = js.CreateStream(ctx, jetstream.StreamConfig{
		Name: SinkStream, Subjects: []string{subjectPrefix + "jetstream.*"},
		Storage: jetstream.FileStorage, Duplicates: duplicateWindow, AllowDirect: true, Replicas: replicas,
	})
	if err != nil {
		return fmt.Errorf("create the stream: %w", err)
	}
	return nil
}

// ReadStream records the messages that the stream has received since the last call. A message that cannot be read now
// is read by the next call. It is not safe for concurrent use.
func (s *Sink) ReadStream(ctx context.Context) error {
	js, err := jetstream.New(s.conn)
	if err != nil {
		return err
	}
	stream, err := js.Stream(ctx, SinkStream)
	if err != nil {
		return fmt.Errorf("read the stream: %w", err)
	}
	for last := stream.CachedInfo().State.LastSeq; s.streamed < last; s.streamed++ {
		m, err := stream.GetMsg(ctx, s.streamed+1)
		if err != nil {
			return fmt.Errorf("read message %d of the stream: %w", s.streamed+1, err)
		}
		s.rec.Deliver(delivery("jetstream", m.Header.Get, m.Data, instantOf(m.Time)))
	}
	return nil
}
