package replication

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// jetStream is the stream of a shard's log in NATS.
type jetStream struct {
	js      jetstream.JetStream
	stream  jetstream.Stream
	name    string
	subject string
	config  jetstream.StreamConfig
}

// Keys of the stream's metadata.
const (
	metaCluster   = "carillon_cluster"
	metaClusterID = "carillon_cluster_id"
	metaFormat    = "carillon_format"
)

// streamFormat is the version of what the stream holds.
const streamFormat = "1"

// StreamName returns the name of the stream that carries the log of a shard.
func StreamName(prefix string, shard uint32) string {
	return fmt.Sprintf("CARILLON_LOG_%s_%d", prefix, shard)
}

// ErrOtherCluster says that the stream carries the log of another cluster.
var ErrOtherCluster = errors.New("replication: the stream is another cluster's")

// find binds to the stream if it is there.
func (s *jetStream) find(ctx context.Context) (found bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	stream, err := s.js.Stream(ctx, s.name)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("replication: look for the stream %s: %w", s.name, err)
	}
	s.stream = stream
	return true, nil
}

// owner returns whose the stream is, by its metadata.
func (s *jetStream) owner(cluster string) (id ClusterID, err error) {
	m := s.stream.CachedInfo().Config.Metadata
	switch {
	case m[metaClusterID] == "":
		return id, fmt.Errorf("%w: the stream %s was not made by Carillon; take it away, or use another prefix", ErrOtherCluster, s.name)
	case m[metaFormat] != streamFormat:
		return id, fmt.Errorf("replication: the stream %s has format %q, and this program knows %s", s.name, m[metaFormat], streamFormat)
	case m[metaCluster] != cluster:
		return id, fmt.Errorf("%w: the stream %s carries the log of cluster %q, and this node is of %q; use another prefix", ErrOtherCluster, s.name, m[metaCluster], cluster)
	}
	return ParseClusterID(m[metaClusterID])
}

// make makes the stream for a cluster.
func (s *jetStream) make(ctx context.Context, cluster string, id ClusterID) error {
	ctx, cancel := context.WithTimeout(ctx, 5*callTimeout)
	defer cancel()
	s.config.Metadata = map[string]string{metaCluster: cluster, metaClusterID: id.String(), metaFormat: streamFormat}
	stream, err := s.js.CreateStream(ctx, s.config)
	if errors.Is(err, jetstream.ErrStreamNameAlreadyInUse) {
		return nil // another node was faster: what the stream says counts
	}
	if err != nil {
		return fmt.Errorf("replication: make the stream %s with %d replicas and room for %d bytes (--stream-bytes-max): %w", s.name, s.config.Replicas, s.config.MaxBytes, err)
	}
	s.stream = stream
	return nil
}

// newClusterID draws an id.
func newClusterID() (id ClusterID) {
	rand.Read(id[:]) // never fails
	return id
}

// streamConfig is how the stream of a log is made. Nothing in it goes by itself but what is beyond the
// bound of its size.
func streamConfig(name, subject string, replicas int, bytesMax int64) jetstream.StreamConfig {
	return jetstream.StreamConfig{
		Name: name, Subjects: []string{subject}, Description: "the log of a shard of Carillon",
		Retention: jetstream.LimitsPolicy, Discard: jetstream.DiscardOld, Storage: jetstream.FileStorage,
		Replicas: replicas, MaxBytes: bytesMax, AllowDirect: true, DenyDelete: true,
		Duplicates: time.Second, // nothing relies on it
	}
}

// Publish implements stream.
func (s *jetStream) Publish(ctx context.Context, message []byte, expect uint64) (uint64, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	m := nats.NewMsg(s.subject)
	m.Data = message
	m.Header.Set(jetstream.ExpectedLastSeqHeader, strconv.FormatUint(expect, 10))
	m.Header.Set(jetstream.ExpectedStreamHeader, s.name)
	ack, err := s.js.PublishMsg(ctx, m, jetstream.WithRetryAttempts(0))
	switch {
	case err == nil:
		return ack.Sequence, nil
	case isWrongSequence(err):
		return 0, errWrongSequence
	case errors.Is(err, jetstream.ErrNoStreamResponse), errors.Is(err, nats.ErrNoResponders):
		return 0, s.whyNobody(ctx, err)
	default:
		return 0, err
	}
}

// whyNobody tells a stream that is gone from one whose servers are not there for the moment.
func (s *jetStream) whyNobody(ctx context.Context, cause error) error {
	_, err := s.js.Stream(ctx, s.name)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		return errStreamGone
	}
	return cause
}

// Bounds implements stream.
func (s *jetStream) Bounds(ctx context.Context) (first, last uint64, err error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	info, err := s.stream.Info(ctx)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		return 0, 0, errStreamGone
	}
	if err != nil {
		return 0, 0, err
	}
	if info.State.Msgs == 0 {
		return info.State.LastSeq + 1, info.State.LastSeq, nil
	}
	return info.State.FirstSeq, info.State.LastSeq, nil
}

// Get implements stream. Any server that has the stream may answer.
func (s *jetStream) Get(ctx context.Context, seq uint64) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	m, err := s.stream.GetMsg(ctx, seq)
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

// Lacks implements stream.
func (s *jetStream) Lacks(ctx context.Context, seq uint64) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	info, err := s.stream.Info(ctx, jetstream.WithDeletedDetails(true))
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		return false, errStreamGone
	}
	if err != nil {
		return false, err
	}
	state := info.State
	return state.Msgs == 0 || seq < state.FirstSeq || seq > state.LastSeq || slices.Contains(state.Deleted, seq), nil
}

// pauseTime is how long something that failed is left alone.
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

// trim gives up the messages before a sequence.
func (s *jetStream) trim(ctx context.Context, seq uint64) error {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	return s.stream.Purge(ctx, jetstream.WithPurgeSequence(seq))
}
