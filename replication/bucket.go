package replication

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// bucket is the lease in a key-value bucket of JetStream.
type bucket struct {
	kv  jetstream.KeyValue
	key string
}

// callTimeout bounds one request to JetStream. An election of a leader there takes longer; what is
// asked for is asked again.
const callTimeout = 2 * time.Second

// errLost says that a compare-and-set met another revision.
var errLost = errors.New("replication: the lease has changed meanwhile")

// openBucket makes the bucket, unless it is there.
func openBucket(ctx context.Context, js jetstream.JetStream, name, key string, replicas int) (*bucket, error) {
	kv, err := js.KeyValue(ctx, name)
	if errors.Is(err, jetstream.ErrBucketNotFound) {
		kv, err = js.CreateKeyValue(ctx, jetstream.KeyValueConfig{
			Bucket: name, Description: "who leads a shard of Carillon", History: 1, Storage: jetstream.FileStorage, Replicas: replicas,
		})
	}
	if err != nil {
		return nil, fmt.Errorf("replication: bucket %s of the lease: %w", name, err)
	}
	return &bucket{kv: kv, key: key}, nil
}

// swap implements register.
func (b *bucket) swap(ctx context.Context, v leaseValue, revision uint64) (uint64, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	var next uint64
	var err error
	if revision == 0 {
		next, err = b.kv.Create(ctx, b.key, v.encode())
	} else {
		next, err = b.kv.Update(ctx, b.key, v.encode(), revision)
	}
	if isWrongSequence(err) {
		return 0, errLost
	}
	return next, err
}

// look implements register.
func (b *bucket) look(ctx context.Context) (v leaseValue, revision uint64, err error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	entry, err := b.kv.Get(ctx, b.key)
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return v, 0, nil
	}
	if err != nil {
		return v, 0, err
	}
	v, err = decodeLease(entry.Value())
	return v, entry.Revision(), err
}

// watch implements register.
func (b *bucket) watch(ctx context.Context, pass func(leaseSeen, error)) error {
	watch, err := b.kv.Watch(ctx, b.key)
	if err != nil {
		return err
	}
	defer func() { _ = watch.Stop() }()
	for {
		select {
		case <-ctx.Done():
			return nil
		case entry, ok := <-watch.Updates():
			if !ok {
				return errors.New("the watch has ended")
			}
			if entry != nil { // nil: all that was there has come
				pass(seenOf(entry))
			}
		}
	}
}

func seenOf(entry jetstream.KeyValueEntry) (leaseSeen, error) {
	if entry.Operation() != jetstream.KeyValuePut {
		return leaseSeen{}, nil
	}
	v, err := decodeLease(entry.Value())
	return leaseSeen{v, entry.Revision()}, err
}

// isWrongSequence tells whether a server refused because something else came first.
func isWrongSequence(err error) bool {
	api, ok := errors.AsType[*jetstream.APIError](err)
	return ok && (api.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequence || api.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequenceConstant)
}
