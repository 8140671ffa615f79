package bus

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
	// An operator makes such a stream by hand, so a minute is soon enough for the warning; each search costs one
	// request to JetStream for each of the subjects.
	capturesEvery   = time.Minute            // between two searches
	capturesFresh   = time.Second            // age up to which a search counts as fresh when the status is requested
	capturesTimeMax = 500 * time.Millisecond // bound of one search
	capturesMost    = 16                     // streams that a warning names at most
)

// captures finds the JetStream streams over the subjects on which this server answers. Such a stream
// acknowledges each request in the server's place, so callers take the acknowledgement for the reply. The
// server's own streams are over other subjects. Safe for concurrent use.
type captures struct {
	js       jetstream.JetStream
	subjects []string
	logger   *slog.Logger

	// It is not mu, so that Warnings does not wait for JetStream.
	searching sync.Mutex // held during a search

	// guards the fields below
	mu sync.Mutex
	// end of the last search, whether it succeeded or not: a JetStream that does not answer must not slow each request
	// for the status
	lookedAt time.Time
	streams  []string // sorted by name
}

// newCaptures returns a search that has not run yet.
func newCaptures(js jetstream.JetStream, o Options) *captures {
	return &captures{js: js, logger: o.Logger, subjects: []string{
		o.Prefix + ".v1.>", o.Prefix + ".account.v1.>", o.Prefix + ".standby.v1.>", o.Prefix + ".shard.>", o.Prefix + ".cluster.>", o.Prefix + ".backup.>",
	}}
}

// watch searches from time to time until ctx ends.
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

// Look searches for such streams now, unless the last search is fresh. If the search fails, what the last one found
// stays. It logs only when the streams differ from those that are known.
func (c *captures) Look() {
	c.searching.Lock()
	defer c.searching.Unlock()
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

// find requests the streams. JetStream selects them by their subjects, so the cost does not depend on the number of
// streams. Without JetStream there are none. It counts streams up to capturesMost: the warning is as useful with
// sixteen names as with a thousand.
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

// acknowledges reports whether a stream answers what it stores. It assumes so if the stream cannot be read. A stream
// without acknowledgements only copies the requests, which does no harm.
func (c *captures) acknowledges(ctx context.Context, name string) bool {
	stream, err := c.js.Stream(ctx, name)
	return err != nil || !stream.CachedInfo().Config.NoAck
}

// Warnings returns a warning for each stream that the last search found.
func (c *captures) Warnings() (warnings []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, name := range c.streams {
		warnings = append(warnings, fmt.Sprintf("the JetStream stream %s captures subjects on which this server is asked (one of %q): it acknowledges requests in the server's place, "+
			"and clients may take that for the answer; take these subjects out of the stream (nats stream edit %s)", name, c.subjects, name))
	}
	return warnings
}
