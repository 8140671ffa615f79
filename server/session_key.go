package server

import (
	"context"
	"crypto/hkdf"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-io/carillon/datadir"
	"github.com/carillon-io/carillon/session"
)

// sessionKey is the key under which the sessions of the pages are sealed. Safe for concurrent use.
type sessionKey struct{ now atomic.Pointer[[]byte] }

// get returns the key. It does not block.
func (k *sessionKey) get() ([]byte, error) {
	if key := k.now.Load(); key != nil {
		return *key, nil
	}
	return nil, errors.New("the key of the sessions is not there yet")
}

func (k *sessionKey) set(key []byte) { k.now.Store(&key) }

// openSessionKey finds the key of the sessions: in a cluster with a password it is derived from that; in another cluster
// it is kept in NATS, which all nodes share; a node alone keeps its own. No backup has it.
func (s *Server) openSessionKey(context.Context) error {
	o := &s.opts
	switch {
	case s.access == nil: // no reader signs in
		return nil
	case o.ClusterPassword != "":
		key, err := hkdf.Key(sha256.New, s.nodeKey(), nil, "carillon sessions", session.KeyBytes)
		if err == nil {
			s.sessionKey.set(key)
		}
		return err
	case o.clustered():
		ctx, stop := context.WithCancel(context.Background())
		s.stopSessionKey = stop
		s.background.Go(func() { s.shareSessionKey(ctx) })
		return nil
	}
	key, err := datadir.OpenSessionKey(o.Dir)
	if err == nil {
		s.sessionKey.set(key)
	}
	return err
}

// How often the shared key is read, and how long one reading may take.
const (
	sessionKeyEvery    = 10 * time.Second
	sessionKeyPatience = 5 * time.Second
)

// shareSessionKey reads the shared key until ctx ends, so that all nodes have the same one within seconds, also after
// NATS has lost it.
func (s *Server) shareSessionKey(ctx context.Context) {
	ticker := time.NewTicker(sessionKeyEvery)
	defer ticker.Stop()
	failing := false
	for {
		err := s.readSessionKey(ctx)
		if err != nil && !failing && ctx.Err() == nil {
			s.opts.Logger.Warn("the key of the sessions could not be read from NATS; it is tried again", slog.Any("error", err))
		}
		failing = err != nil
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
	}
}

// sessionKeyName is the key of the bucket.
const sessionKeyName = "key"

// readSessionKey reads the shared key. Where there is none, this node puts its own there, or draws one: that of the node
// that is first holds.
func (s *Server) readSessionKey(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, sessionKeyPatience)
	defer cancel()
	bucket, err := s.sessionBucket(ctx)
	if err != nil {
		return err
	}
	entry, err := bucket.Get(ctx, sessionKeyName)
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		own, none := s.sessionKey.get()
		if none != nil {
			own = session.NewKey()
		}
		if _, err = bucket.Create(ctx, sessionKeyName, own); err == nil || errors.Is(err, jetstream.ErrKeyExists) {
			entry, err = bucket.Get(ctx, sessionKeyName)
		}
	}
	if err != nil {
		return fmt.Errorf("read %s: %w", bucket.Bucket(), err)
	}
	if len(entry.Value()) != session.KeyBytes {
		return fmt.Errorf("%s holds %d bytes, and not the %d of a key; delete it, and a new one is drawn", bucket.Bucket(), len(entry.Value()), session.KeyBytes)
	}
	s.sessionKey.set(entry.Value())
	return nil
}

// sessionBucket opens the bucket of the shared key, or makes it.
func (s *Server) sessionBucket(ctx context.Context) (jetstream.KeyValue, error) {
	js, err := jetstream.New(s.bus.API())
	if err != nil {
		return nil, err
	}
	name := "CARILLON_SESSIONS_" + s.opts.Prefix
	bucket, err := js.KeyValue(ctx, name)
	if !errors.Is(err, jetstream.ErrBucketNotFound) {
		return bucket, err
	}
	facts, err := s.around.Facts(ctx)
	if err != nil {
		return nil, err
	}
	bucket, err = js.CreateKeyValue(ctx, jetstream.KeyValueConfig{
		Bucket: name, Description: "key of the sessions of Carillon's pages", History: 1, MaxBytes: 64 << 10, Storage: jetstream.FileStorage,
		Replicas: facts.Replicas(s.opts.Replicas),
	})
	if errors.Is(err, jetstream.ErrBucketExists) { // another node was first
		return js.KeyValue(ctx, name)
	}
	return bucket, err
}
