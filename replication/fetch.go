package replication

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// nearTime bounds a read that any server with the stream may answer. NATS chooses the server, and keeps
// choosing one that stands still; after this time the stream's leader is asked instead. It is long for a read,
// and short beside a takeover, which needs several reads.
const nearTime = 250 * time.Millisecond

// farTime is how long reads go only to the stream's leader after one that was late. A shorter time would pay
// nearTime again and again until NATS notices that the server is gone; a longer one keeps all reads at one
// server.
const farTime = 10 * time.Second

// nearness decides whether reads may go to any server. The zero value permits it. Safe for concurrent use. Its
// clock may be set: that only prolongs or ends the reads at the leader.
type nearness struct{ farUntil atomic.Int64 } // in nanoseconds of Unix time

// read calls read for a request to any server. late says that the caller must ask the stream's leader instead.
func (n *nearness) read(ctx context.Context, read func(context.Context) error) (late bool, err error) {
	if time.Now().UnixNano() < n.farUntil.Load() {
		return true, nil
	}
	quick, cancel := context.WithTimeout(ctx, nearTime)
	defer cancel()
	err = read(quick)
	if late = errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil; late {
		n.farUntil.Store(time.Now().Add(farTime).UnixNano())
	}
	return late, err
}

// askedAgain is the time after which a request to JetStream is repeated: a server that ends loses the requests
// that it has not answered.
const askedAgain = 500 * time.Millisecond

// twice makes a request that changes nothing, and repeats it once if no reply comes. A publication must not go
// through it: the first request may still be under way.
func twice(ctx context.Context, request func(context.Context) error) error {
	first, cancel := context.WithTimeout(ctx, askedAgain)
	err := request(first)
	cancel()
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		return request(ctx)
	}
	return err
}

// stored is a message as the stream's leader returns it.
type stored struct {
	Seq     uint64 `json:"seq"`
	Data    []byte `json:"data"`
	Headers []byte `json:"hdrs"`
}

// fetch asks the leader of a stream for a message; which is {"seq":…} or {"last_by_subj":…}. It returns
// errNoMessage if there is none. The request is made by hand because the client sends its reads to any server
// as soon as the stream permits that, and proofs need the leader's answer.
func fetch(ctx context.Context, conn *nats.Conn, stream string, which map[string]any) (*stored, error) {
	ask, err := json.Marshal(which)
	if err != nil {
		return nil, err
	}
	m, err := conn.RequestWithContext(ctx, "$JS.API.STREAM.MSG.GET."+stream, ask)
	if err != nil {
		return nil, err
	}
	var reply struct {
		Message *stored             `json:"message"`
		Error   *jetstream.APIError `json:"error"`
	}
	switch err := json.Unmarshal(m.Data, &reply); {
	case err != nil:
		return nil, fmt.Errorf("replication: read a message of %s: %w", stream, err)
	case reply.Error != nil && reply.Error.ErrorCode == jetstream.JSErrCodeMessageNotFound:
		return nil, errNoMessage
	case reply.Error != nil && reply.Error.ErrorCode == jetstream.JSErrCodeStreamNotFound:
		return nil, errStreamGone
	case reply.Error != nil:
		return nil, reply.Error
	case reply.Message == nil:
		return nil, fmt.Errorf("replication: a read of %s was answered without a message", stream)
	}
	return reply.Message, nil
}

// fetchLast asks the leader of the bucket's stream for a key.
func (b *bucket) fetchLast(ctx context.Context, key string) (value []byte, revision uint64, err error) {
	m, err := fetch(ctx, b.js.Conn(), b.name, map[string]any{"last_by_subj": "$KV." + b.kv.Bucket() + "." + key})
	switch {
	case errors.Is(err, errNoMessage):
		return nil, 0, nil
	case err != nil:
		return nil, 0, err
	case bytes.Contains(m.Headers, []byte("KV-Operation")): // it was deleted
		return nil, 0, nil
	}
	return m.Data, m.Seq, nil
}
