package replication

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// jetStream is the stream of a shard's log in NATS. It implements stream.
type jetStream struct {
	seat
	near    nearness
	js      jetstream.JetStream
	opened  atomic.Pointer[jetstream.Stream] // set by find or make, which a leader may call again while others read; refers to the stream by name
	subject string
	config  jetstream.StreamConfig // with which make makes the stream
	first   *atomic.Uint64         // value of metaFirst when it was last read
	shard   layout
}

// Keys of the stream's metadata.
const (
	metaCluster   = "carillon_cluster"
	metaClusterID = "carillon_cluster_id"
	metaFormat    = "carillon_format"
	// metaFirst is the LSN of the newest commit that the node had which made the stream. A node with less must
	// not lead, even while the stream is empty. Missing: 0.
	metaFirst = "carillon_first_lsn"
)

// streamFormat is the version of the stream's contents. A node refuses a stream of another version.
const streamFormat = "1"

// streamFormatOfShards is that version in a cluster with several shards, so that a release that knows only one shard
// refuses each of their streams.
const streamFormatOfShards = "2"

// StreamName returns the name of the stream that carries the log of a shard.
func StreamName(prefix string, shard uint32) string {
	return fmt.Sprintf("CARILLON_LOG_%s_%d", prefix, shard)
}

// ErrOtherCluster says that the stream carries the log of another cluster.
var ErrOtherCluster = errors.New("replication: the stream is another cluster's")

// handle returns the stream as NATS knows it. find or make must have succeeded.
func (s *jetStream) handle() jetstream.Stream { return *s.opened.Load() }

// find opens the stream, and reports whether it exists.
func (s *jetStream) find(ctx context.Context) (found bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	stream, err := s.js.Stream(ctx, s.name)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("replication: find the stream %s: %w", s.name, err)
	}
	s.opened.Store(&stream)
	s.noteFirst(stream.CachedInfo())
	return true, nil
}

// noteFirst stores the LSN that a node must have to lead.
func (s *jetStream) noteFirst(info *jetstream.StreamInfo) {
	if s.first != nil {
		lsn, _ := strconv.ParseUint(info.Config.Metadata[metaFirst], 10, 64) // 0 if it is missing
		s.first.Store(lsn)
	}
}

// owner returns the id of the cluster to which the stream belongs, or an error if that is not the named one.
func (s *jetStream) owner(cluster string) (id ClusterID, err error) {
	m := s.handle().CachedInfo().Config.Metadata
	switch {
	case m[metaClusterID] == "":
		return id, fmt.Errorf("%w: the stream %s was not made by Carillon; take it away, or use another prefix", ErrOtherCluster, s.name)
	case m[metaFormat] != streamFormat && m[metaFormat] != streamFormatOfShards:
		return id, fmt.Errorf("replication: the stream %s has format %q, and this program knows %s and %s", s.name, m[metaFormat], streamFormat, streamFormatOfShards)
	case m[metaCluster] != cluster:
		return id, fmt.Errorf("%w: the stream %s carries the log of cluster %q, and this node is of %q; use another prefix", ErrOtherCluster, s.name, m[metaCluster], cluster)
	}
	if err := s.shard.check(s.name, m); err != nil {
		return id, err
	}
	return ParseClusterID(m[metaClusterID])
}

// make makes the stream for a cluster whose log continues after an LSN. The metadata is set with the creation,
// so no other node ever sees a stream without an owner.
func (s *jetStream) make(ctx context.Context, cluster string, id ClusterID, after uint64) error {
	ctx, cancel := context.WithTimeout(ctx, 5*callTimeout)
	defer cancel()
	config := s.config
	config.Metadata = map[string]string{metaCluster: cluster, metaClusterID: id.String(), metaFormat: streamFormat, metaFirst: strconv.FormatUint(after, 10)}
	s.shard.describe(config.Metadata)
	stream, err := s.js.CreateStream(ctx, config)
	if errors.Is(err, jetstream.ErrStreamNameAlreadyInUse) {
		return nil // another node was faster, and the stream's metadata decides
	}
	if err != nil {
		return fmt.Errorf("replication: make the stream %s with %d replicas and room for %d bytes (--stream-bytes-max): %w", s.name, s.config.Replicas, s.config.MaxBytes, err)
	}
	s.opened.Store(&stream)
	s.noteFirst(stream.CachedInfo())
	return nil
}

// newClusterID draws the id of a new cluster.
func newClusterID() (id ClusterID) {
	rand.Read(id[:]) // never fails
	return id
}

// streamConfig returns the configuration of the stream. Messages leave the stream only when it is trimmed, or
// when it exceeds bytesMax.
//
// Discarding the oldest keeps a full stream from refusing the leader. DenyDelete keeps single messages from
// being deleted by hand, so that gaps come from trims and losses only. AllowDirect lets each server with a
// replica answer reads; in return, a server that lags may deny a message that exists, see [cursor.get].
func streamConfig(name, subject string, replicas int, bytesMax int64) jetstream.StreamConfig {
	return jetstream.StreamConfig{
		Name: name, Subjects: []string{subject}, Description: "the log of a shard of Carillon",
		Retention: jetstream.LimitsPolicy, Discard: jetstream.DiscardOld, Storage: jetstream.FileStorage,
		Replicas: replicas, MaxBytes: bytesMax, AllowDirect: true, DenyDelete: true,
		Duplicates: time.Second, // the shortest time; the protocol does not rely on it
	}
}

// Publish implements stream.
//
// The client must not repeat a publication by itself: whether to send again is decided only after the stream
// was read. The expected stream keeps an acknowledgement of another stream over the same subject from counting.
func (s *jetStream) Publish(ctx context.Context, message []byte, expect uint64) (uint64, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	m := nats.NewMsg(s.subject)
	m.Data = message
	m.Header.Set(jetstream.ExpectedLastSeqHeader, strconv.FormatUint(expect, 10))
	m.Header.Set(jetstream.ExpectedStreamHeader, s.name)
	s.mu.Lock()
	ack, err := s.js.PublishMsg(ctx, m, jetstream.WithRetryAttempts(0))
	s.mu.Unlock()
	switch {
	case err == nil:
		return ack.Sequence, nil
	case isWrongSequence(err):
		return 0, errWrongSequence
	case errors.Is(err, jetstream.ErrNoStreamResponse), errors.Is(err, nats.ErrNoResponders):
		return 0, s.whyUnanswered(ctx, err)
	default:
		return 0, err
	}
}

// whyUnanswered returns errStreamGone if the stream no longer exists, and otherwise cause: then its servers merely
// do not answer at the moment.
func (s *jetStream) whyUnanswered(ctx context.Context, cause error) error {
	_, err := s.js.Stream(ctx, s.name)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		return errStreamGone
	}
	return cause
}

// Bounds implements stream. It reads the metadata again each time, because the stream may have been made anew.
func (s *jetStream) Bounds(ctx context.Context) (first, last uint64, err error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	var info *jetstream.StreamInfo
	err = twice(ctx, func(ctx context.Context) (err error) {
		info, err = s.handle().Info(ctx)
		return err
	})
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		return 0, 0, errStreamGone
	}
	if err != nil {
		return 0, 0, err
	}
	s.noteFirst(info)
	if info.State.Msgs == 0 {
		return info.State.LastSeq + 1, info.State.LastSeq, nil
	}
	return info.State.FirstSeq, info.State.LastSeq, nil
}

// bytes returns the size of the stream when Bounds was called last.
func (s *jetStream) bytes() uint64 { return s.handle().CachedInfo().State.Bytes }

// Get implements stream. Any server with the stream may answer.
func (s *jetStream) Get(ctx context.Context, seq uint64) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	var m *jetstream.RawStreamMsg
	late, err := s.near.read(ctx, func(ctx context.Context) (err error) {
		m, err = s.handle().GetMsg(ctx, seq)
		return err
	})
	if late {
		return s.Stored(ctx, seq)
	}
	switch {
	case err == nil:
		return m.Data, nil
	case errors.Is(err, jetstream.ErrMsgNotFound):
		return nil, errNoMessage
	case errors.Is(err, jetstream.ErrStreamNotFound):
		return nil, errStreamGone
	default:
		return nil, err
	}
}

// GetRange implements stream: the requests are under way at the same time.
func (s *jetStream) GetRange(ctx context.Context, first, last uint64) ([][]byte, error) {
	return each(ctx, first, last, s.Get)
}

// StoredRange implements stream, as GetRange does.
func (s *jetStream) StoredRange(ctx context.Context, first, last uint64) ([][]byte, error) {
	return each(ctx, first, last, s.Stored)
}

// each reads the messages of all sequences from first to last at the same time. One that is missing is nil.
func each(ctx context.Context, first, last uint64, get func(context.Context, uint64) ([]byte, error)) ([][]byte, error) {
	messages, failed := make([][]byte, last-first+1), make([]error, last-first+1)
	var all sync.WaitGroup
	for i := range messages {
		all.Go(func() { messages[i], failed[i] = get(ctx, first+uint64(i)) })
	}
	all.Wait()
	for _, err := range failed {
		if err != nil && !errors.Is(err, errNoMessage) {
			return nil, err
		}
	}
	return messages, nil
}

// Stored implements stream.
func (s *jetStream) Stored(ctx context.Context, seq uint64) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	found, err := fetch(ctx, s.js.Conn(), s.name, map[string]any{"seq": seq})
	if err != nil {
		return nil, err
	}
	return found.Data, nil
}

// Lacks implements stream. The answer counts as proof because it comes from the stream's leader, with the list
// of all gaps; that makes it too expensive for each read.
func (s *jetStream) Lacks(ctx context.Context, seq uint64) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	var info *jetstream.StreamInfo
	err := twice(ctx, func(ctx context.Context) (err error) {
		info, err = s.handle().Info(ctx, jetstream.WithDeletedDetails(true))
		return err
	})
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		return false, errStreamGone
	}
	if err != nil {
		return false, err
	}
	state := info.State
	return state.Msgs == 0 || seq < state.FirstSeq || seq > state.LastSeq || slices.Contains(state.Deleted, seq), nil
}

// pauseTime is the wait before a failed request is repeated. An election lasts for about a hundred of them.
const pauseTime = 50 * time.Millisecond

// Pause implements stream.
func (s *jetStream) Pause(ctx context.Context) error {
	t := time.NewTimer(pauseTime)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// trim removes the messages before a sequence.
func (s *jetStream) trim(ctx context.Context, seq uint64) error {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	return s.handle().Purge(ctx, jetstream.WithPurgeSequence(seq))
}
