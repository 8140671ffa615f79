package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-io/carillon/bench/history"
)

// streams looks at and breaks what the cluster keeps in JetStream. It knows the product's streams by their names
// alone.
type streams struct{ conn *nats.Conn }

// logPrefix begins the name of the stream that carries the log. The name is part of what operators see, and
// documented, so it is no secret of the product's packages.
const logPrefix = "CARILLON_LOG_"

// streamWait bounds one question to JetStream. JetStream does not answer while it elects; the callers ask again.
const streamWait = 5 * time.Second

// list returns all streams whose names begin so.
func (s streams) list(ctx context.Context, prefix string) ([]*jetstream.StreamInfo, error) {
	ctx, cancel := context.WithTimeout(ctx, streamWait)
	defer cancel()
	js, err := jetstream.New(s.conn)
	if err != nil {
		return nil, err
	}
	lister := js.ListStreams(ctx)
	var found []*jetstream.StreamInfo
	for info := range lister.Info() {
		if strings.HasPrefix(info.Config.Name, prefix) {
			found = append(found, info)
		}
	}
	return found, lister.Err()
}

// log returns the stream of the log.
func (s streams) log(ctx context.Context) (*jetstream.StreamInfo, error) {
	found, err := s.list(ctx, logPrefix)
	if err != nil {
		return nil, err
	}
	// Two logs would mean that a node made one of its own, which the run must not overlook.
	if len(found) != 1 {
		return nil, fmt.Errorf("%d streams have a name that begins with %s; want one", len(found), logPrefix)
	}
	return found[0], nil
}

// delete removes the stream of the log.
func (s streams) delete(ctx context.Context) error {
	info, err := s.log(ctx)
	if err != nil {
		return err
	}
	js, err := jetstream.New(s.conn)
	if err != nil {
		return err
	}
	return js.DeleteStream(ctx, info.Config.Name)
}

// leaseBucket is where the lease of a cluster stands whose prefix is carillon.
const leaseBucket = "CARILLON_LEASE_carillon"

// deleteBucket deletes the bucket of the lease.
func (s streams) deleteBucket(ctx context.Context) error {
	js, err := jetstream.New(s.conn)
	if err != nil {
		return err
	}
	return js.DeleteKeyValue(ctx, leaseBucket)
}

// junk stores a message in the log that is no commit. A node must ignore it, and the next commit must go on behind it.
func (s streams) junk(ctx context.Context) error {
	info, err := s.log(ctx)
	if err != nil {
		return err
	}
	if len(info.Config.Subjects) == 0 {
		return errors.New("the stream of the log has no subject")
	}
	js, err := jetstream.New(s.conn)
	if err != nil {
		return err
	}
	// A subject of the stream with its wildcards filled in, so that the stream takes the message.
	subject := strings.NewReplacer("*", "junk", ">", "junk").Replace(info.Config.Subjects[0])
	_, err = js.Publish(ctx, subject, []byte("this is no commit"))
	return err
}

// lead makes a server the leader of every stream, the buckets among them, as far as it takes the office.
func (s streams) lead(ctx context.Context, server string) error { return s.leadAll(ctx, "", server) }

// leadAll makes a server the leader of every stream whose name begins so.
func (s streams) leadAll(ctx context.Context, prefix, server string) error {
	found, err := s.list(ctx, prefix)
	if err != nil {
		return err
	}
	for _, info := range found {
		if err := s.moveLeader(ctx, info, server); err != nil {
			return err
		}
	}
	return nil
}

// leaseStream is the stream of the bucket in which the leases are.
const leaseStream = "KV_" + leaseBucket

// leadLogs makes a server the leader of the streams of all logs.
func (s streams) leadLogs(ctx context.Context, server string) error {
	return s.leadAll(ctx, logPrefix, server)
}

// ledBy demands that a server leads all streams whose names begin so.
func (s streams) ledBy(ctx context.Context, server, prefix string) error {
	found, err := s.list(ctx, prefix)
	if err != nil {
		return err
	}
	for _, info := range found {
		if info.Cluster == nil || info.Cluster.Leader != server {
			return fmt.Errorf("%s does not lead the stream %s", server, info.Config.Name)
		}
	}
	return nil
}

// askAgain is how long an election that was asked for may take before it is asked for again. NATS may elect another
// server than the preferred one, so one request is not enough.
const askAgain = 2 * time.Second

// moveLeader asks the present leader of a stream to step down in favour of a server, until that one leads.
func (s streams) moveLeader(ctx context.Context, info *jetstream.StreamInfo, server string) error {
	if info.Cluster == nil || len(info.Cluster.Replicas) == 0 {
		return nil // it lives on one server, and stays there
	}
	js, err := jetstream.New(s.conn)
	if err != nil {
		return err
	}
	ask, err := json.Marshal(map[string]any{"placement": map[string]string{"preferred": server}})
	if err != nil {
		return err
	}
	var asked time.Time
	return until(ctx, healWait, func() error {
		stream, err := js.Stream(ctx, info.Config.Name)
		if err != nil {
			return err
		}
		// Fetched anew with the stream at each try.
		if c := stream.CachedInfo().Cluster; c != nil && c.Leader == server {
			return nil
		}
		if time.Since(asked) > askAgain {
			asked = time.Now()
			if _, err := s.conn.Request("$JS.API.STREAM.LEADER.STEPDOWN."+info.Config.Name, ask, streamWait); err != nil {
				return fmt.Errorf("move the leader of %s: %w", info.Config.Name, err)
			}
		}
		return fmt.Errorf("%s does not lead the stream %s", server, info.Config.Name)
	})
}

// laggingError says which copy of a stream lacks something. The caller may restart that server, or go on without
// its copy.
type laggingError struct{ stream, server string }

func (e *laggingError) Error() string {
	return fmt.Sprintf("the copy of the stream %s on %s is not in step", e.stream, e.server)
}

// inStep demands that every copy of every stream is there and has all there is. A copy of a stream of the product is
// named before one of the sink's. The listing is NATS's own view: a copy that is offline or not current counts as
// lagging.
func (s streams) inStep(ctx context.Context) error {
	found, err := s.list(ctx, "")
	if err != nil {
		return err
	}
	var lag error
	for _, info := range found {
		if info.Cluster == nil || info.Cluster.Leader == "" {
			return fmt.Errorf("the stream %s has no leader", info.Config.Name)
		}
		for _, peer := range info.Cluster.Replicas {
			if (!peer.Current || peer.Offline) && (lag == nil || info.Config.Name != history.SinkStream) {
				lag = &laggingError{info.Config.Name, peer.Name}
			}
		}
	}
	return lag
}
