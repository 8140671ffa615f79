package carillon

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// The bounds of the search for streams that capture requests.
const (
	capturesEvery   = time.Minute            // between two looks
	capturesFresh   = time.Second            // for which a look counts, when the status is asked for
	capturesTimeMax = 500 * time.Millisecond // of a look
	capturesMost    = 16                     // streams that are named
)

// captures finds the JetStream streams over the subjects on which this server is asked. Such a stream acknowledges
// each request in the server's place. The server's own streams are over other subjects. Safe for concurrent use.
type captures struct {
	conn     *nats.Conn // its own: a refusal of what it asks is no error of the others
	js       jetstream.JetStream
	subjects []string
	logger   *slog.Logger

	looking sync.Mutex // one look at a time

	mu       sync.Mutex
	lookedAt time.Time
	streams  []string // by name
}

// openCaptures looks for the first time, and from then on.
func (s *Server) openCaptures(context.Context) error {
	conn, err := s.bus.connectQuietly("carillon check")
	if err != nil {
		return err
	}
	js, err := jetstream.New(conn)
	if err != nil {
		return fmt.Errorf("speak to JetStream: %w", err)
	}
	prefix := s.opts.Prefix
	s.captures = &captures{conn: conn, js: js, logger: s.opts.Logger, subjects: []string{
		prefix + ".v1.>", prefix + ".standby.v1.>", prefix + ".cluster.>", prefix + ".backup.>",
	}}
	s.captures.Look()
	ctx, stop := context.WithCancel(context.Background())
	s.stopCaptures = stop
	s.background.Go(func() { s.captures.watch(ctx) })
	return nil
}

// watch looks now and then until ctx ends.
func (c *captures) watch(ctx context.Context) {
	ticker := time.NewTicker(capturesEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			c.Look()
		case <-ctx.Done():
			return
		}
	}
}

// Look implements [api.Surroundings].
func (c *captures) Look() {
	c.looking.Lock()
	defer c.looking.Unlock()
	if c.isFresh() {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), capturesTimeMax)
	defer cancel()
	streams, err := c.find(ctx)
	if err != nil {
		c.logger.Debug("it is not known whether JetStream streams capture requests", slog.Any("error", err))
	}
	c.mu.Lock()
	known := c.streams
	c.lookedAt = time.Now()
	if err == nil {
		c.streams = streams
	}
	c.mu.Unlock()
	if err == nil && len(streams) > 0 && !slices.Equal(streams, known) {
		for _, w := range c.Warnings() {
			c.logger.Warn(w)
		}
	}
}

func (c *captures) isFresh() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return !c.lookedAt.IsZero() && time.Since(c.lookedAt) < capturesFresh
}

// find asks for the streams. JetStream selects them by their subjects, so that an account of any number of streams
// costs no more than one. Without JetStream there is none.
func (c *captures) find(ctx context.Context) (names []string, err error) {
	for _, subject := range c.subjects {
		lister := c.js.StreamNames(ctx, jetstream.WithStreamListSubject(subject))
		for name := range lister.Name() {
			if len(names) < capturesMost && !slices.Contains(names, name) && c.acknowledges(ctx, name) {
				names = append(names, name)
			}
		}
		if err := lister.Err(); err != nil {
			if errors.Is(err, nats.ErrNoResponders) || errors.Is(err, jetstream.ErrJetStreamNotEnabled) || errors.Is(err, jetstream.ErrJetStreamNotEnabledForAccount) {
				return nil, nil
			}
			return nil, fmt.Errorf("ask for the streams over %s: %w", subject, err)
		}
	}
	slices.Sort(names)
	return names, nil
}

// acknowledges reports whether a stream answers what it stores. One that cannot be asked may.
func (c *captures) acknowledges(ctx context.Context, name string) bool {
	stream, err := c.js.Stream(ctx, name)
	return err != nil || !stream.CachedInfo().Config.NoAck
}

// Warnings implements [api.Surroundings].
func (c *captures) Warnings() (warnings []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, name := range c.streams {
		warnings = append(warnings, fmt.Sprintf("the JetStream stream %s captures subjects on which this server is asked (one of %q): it acknowledges requests in the server's place, "+
			"and clients may take that for the answer; take these subjects out of the stream (nats stream edit %s)", name, c.subjects, name))
	}
	return warnings
}
