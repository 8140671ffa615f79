package replication

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// bucket keeps the leases in a key-value bucket of JetStream. It implements keys. Safe for concurrent use.
type bucket struct {
	seat
	near   nearness
	js     jetstream.JetStream
	config jetstream.KeyValueConfig
	kv     jetstream.KeyValue // refers to the bucket by name, so it stays valid when the bucket is made anew
	log    *slog.Logger

	missed   sync.Mutex // held during a search for the bucket; guards searched
	searched time.Time  // when the bucket was last searched; zero: never
}

// callTimeout bounds one request to JetStream. An election among its servers takes longer, so the callers try
// again. A longer time would keep the loops from what else they have to do, a shorter one would fail requests
// that a loaded server still answers.
const callTimeout = 2 * time.Second

// errLost says that the lease no longer has the expected revision.
var errLost = errors.New("replication: the lease has changed meanwhile")

// openBucket opens the bucket of a prefix, and makes it if it does not exist. A key keeps one value: a lease has no
// history, and only the newest revision can be replaced.
func openBucket(ctx context.Context, js jetstream.JetStream, o *Options) (*bucket, error) {
	name := "CARILLON_LEASE_" + o.Prefix
	b := &bucket{seat: seat{name: "KV_" + name}, js: js, log: o.Logger, config: jetstream.KeyValueConfig{
		Bucket: name, Description: "who leads a shard of Carillon", History: 1, Storage: jetstream.FileStorage, Replicas: o.Replicas,
	}}
	var err error
	b.kv, _, err = b.make(ctx)
	return b, err
}

// make opens or makes the bucket. made says that it did not exist, so it holds no lease.
func (b *bucket) make(ctx context.Context) (kv jetstream.KeyValue, made bool, err error) {
	kv, err = b.js.KeyValue(ctx, b.config.Bucket)
	if made = errors.Is(err, jetstream.ErrBucketNotFound); made {
		kv, err = b.js.CreateKeyValue(ctx, b.config)
	}
	if err != nil {
		return nil, false, fmt.Errorf("replication: bucket %s of the lease: %w", b.config.Bucket, err)
	}
	return kv, made, nil
}

// streamConfig returns the configuration that the bucket's stream has if this node makes it with so many replicas, as far as it
// matters to the leases. Revisions grow with each write, so that a key keeps one value whatever the history is.
func (b *bucket) streamConfig(replicas int) jetstream.StreamConfig {
	return jetstream.StreamConfig{
		Name: b.name, Subjects: []string{"$KV." + b.config.Bucket + ".>"}, Retention: jetstream.LimitsPolicy, Discard: jetstream.DiscardNew, Storage: b.config.Storage,
		Replicas: replicas, MaxMsgsPerSubject: int64(b.config.History), AllowDirect: true, DenyDelete: true,
	}
}

// missedEvery is the time between two searches for a bucket whose requests fail. While NATS elects, every
// renewal fails, and the searches would only add to the load.
const missedEvery = time.Second

// heal is called with the error of a request, and returns that error. If the bucket no longer exists, for
// example because an operator deleted it, heal makes it anew. The nodes then find no lease in it: the leader
// renews it, and the others wait for the length of a lease. A bucket that merely has no leader during an
// election still exists, and heal changes nothing.
func (b *bucket) heal(ctx context.Context, failure error) error {
	if failure == nil || ctx.Err() != nil || !b.missed.TryLock() {
		return failure
	}
	defer b.missed.Unlock()
	if time.Since(b.searched) < missedEvery {
		return failure
	}
	b.searched = time.Now()
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	if _, made, err := b.make(ctx); err == nil && made {
		b.log.Error("the bucket of the lease is gone; this node makes it anew", slog.String("bucket", b.config.Bucket))
	}
	return failure
}

// put implements keys. It holds the mutex of the seat, so that no move of the stream's leadership swallows the reply.
func (b *bucket) put(ctx context.Context, key string, value []byte, revision uint64) (uint64, error) {
	next, err := b.write(ctx, key, value, revision)
	if isWrongSequence(err) {
		return 0, errLost
	}
	return next, b.heal(ctx, err)
}

func (b *bucket) write(ctx context.Context, key string, value []byte, revision uint64) (uint64, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	if revision == 0 {
		return b.kv.Create(ctx, key, value)
	}
	return b.kv.Update(ctx, key, value, revision)
}

// get implements keys. Any server with the bucket may answer, so the result may be stale, also after a newer one was
// read.
func (b *bucket) get(ctx context.Context, key string) (value []byte, revision uint64, err error) {
	value, revision, err = b.read(ctx, key)
	return value, revision, b.heal(ctx, err)
}

func (b *bucket) read(ctx context.Context, key string) (value []byte, revision uint64, err error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	var entry jetstream.KeyValueEntry
	late, err := b.near.read(ctx, func(ctx context.Context) (err error) {
		entry, err = b.kv.Get(ctx, key)
		return err
	})
	switch {
	case late:
		return b.fetchLast(ctx, key)
	case errors.Is(err, jetstream.ErrKeyNotFound):
		return nil, 0, nil
	case err != nil:
		return nil, 0, err
	}
	return entry.Value(), entry.Revision(), nil
}

// list returns the present states of the keys that match. The server that leads the bucket's stream answers, so they are not
// stale.
func (b *bucket) list(ctx context.Context, keys string) (states []keyState, err error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	watch, err := b.kv.Watch(ctx, keys)
	if err != nil {
		return nil, b.heal(ctx, fmt.Errorf("replication: read the bucket %s: %w", b.config.Bucket, err))
	}
	defer func() { _ = watch.Stop() }()
	for {
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case entry, ok := <-watch.Updates():
			switch {
			case !ok:
				return nil, errors.New("replication: the watch of the bucket has ended")
			case entry == nil:
				return states, nil // these were all
			case entry.Operation() == jetstream.KeyValuePut:
				states = append(states, keyState{entry.Key(), entry.Value(), entry.Revision()})
			}
		}
	}
}

// watch implements keys. A deleted key has revision 0.
func (b *bucket) watch(ctx context.Context, keys string, pass func(keyState)) error {
	watch, err := b.kv.Watch(ctx, keys)
	if err != nil {
		return err
	}
	defer func() { _ = watch.Stop() }()
	for {
		select {
		case <-ctx.Done():
			return nil
		case entry, ok := <-watch.Updates():
			switch {
			case !ok:
				return errors.New("the watch has ended")
			case entry == nil: // the end of the initial values
			case entry.Operation() != jetstream.KeyValuePut:
				pass(keyState{key: entry.Key()})
			default:
				pass(keyState{entry.Key(), entry.Value(), entry.Revision()})
			}
		}
	}
}

// isWrongSequence reports whether a server refused a write because another write came first.
func isWrongSequence(err error) bool {
	api, ok := errors.AsType[*jetstream.APIError](err)
	return ok && (api.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequence || api.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequenceConstant)
}
