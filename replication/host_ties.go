package replication

import (
	"context"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// ties are what a host needs of NATS besides the keys of the bucket. A process has natsTies; the simulation has others, so
// that all that the host decides runs there as it is.
type ties interface {
	// publish sends a message to all that listen on a subject. It may be lost.
	publish(subject string, data []byte) error
	// request sends a question, and returns the first reply. It returns [nats.ErrNoResponders] if no process answers, and
	// [context.DeadlineExceeded] if no reply comes within a time.
	request(ctx context.Context, within time.Duration, subject string, data []byte) ([]byte, error)
	// requestEach sends an empty question and passes on each reply, see askEach.
	requestEach(ctx context.Context, subject string, pass func(data []byte) (enough bool)) error
	// isWhole reports whether the stream of a shard has its whole log, so that a node without data needs no other node;
	// with empty, whether the log has not begun.
	isWhole(ctx context.Context, shard uint32, empty bool) (bool, error)
}

// natsTies are the ties of a process.
type natsTies struct {
	opts *Options // of any member
}

// publish implements ties.
func (t natsTies) publish(subject string, data []byte) error {
	return t.opts.Conn.Publish(subject, data)
}

// request implements ties.
func (t natsTies) request(ctx context.Context, within time.Duration, subject string, data []byte) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	m, err := t.opts.Conn.RequestWithContext(ctx, subject, data)
	if err != nil {
		return nil, err
	}
	return m.Data, nil
}

// requestEach implements ties.
func (t natsTies) requestEach(ctx context.Context, subject string, pass func(data []byte) (enough bool)) error {
	return askEach(ctx, t.opts.Conn, subject, func(m *nats.Msg) bool { return pass(m.Data) })
}

// isWhole implements ties.
func (t natsTies) isWhole(ctx context.Context, shard uint32, empty bool) (bool, error) {
	js, err := jetstream.New(t.opts.Conn)
	if err != nil {
		return false, err
	}
	s := newJetStream(js, *t.opts, shard, t.opts.Shards)
	found, err := s.find(ctx)
	if err != nil || !found {
		return false, err
	}
	info := s.handle().CachedInfo()
	return info.Config.Metadata[metaFirst] == "0" && info.State.FirstSeq <= 1 && !(empty && info.State.LastSeq > 0), nil
}
