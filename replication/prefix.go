package replication

import (
	"context"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// WhoSubject returns the subject on which each server of a prefix answers who it is and in which mode it
// serves.
func WhoSubject(prefix string, shard uint32) string {
	return fmt.Sprintf("%s.cluster.%d.who", prefix, shard)
}

// FindLog reports whether JetStream has the log of a cluster for a shard, and returns the cluster's name. A
// NATS server without JetStream has none; that is not an error. A server without a cluster calls it before it
// serves, so that it does not run beside a cluster of the same prefix.
func FindLog(ctx context.Context, js jetstream.JetStream, prefix string, shard uint32) (cluster string, found bool, err error) {
	stream, err := js.Stream(ctx, StreamName(prefix, shard))
	switch {
	case err == nil:
		m := stream.CachedInfo().Config.Metadata
		return ClusterOf(m), m[metaClusterID] != "", nil
	case errors.Is(err, jetstream.ErrStreamNotFound), errors.Is(err, nats.ErrNoResponders),
		errors.Is(err, jetstream.ErrJetStreamNotEnabled), errors.Is(err, jetstream.ErrJetStreamNotEnabledForAccount):
		return "", false, nil
	}
	return "", false, fmt.Errorf("replication: find the log of a cluster: %w", err)
}

// ClusterOf returns the name of the cluster whose log a stream with this metadata carries.
func ClusterOf(metadata map[string]string) string { return metadata[metaCluster] }
