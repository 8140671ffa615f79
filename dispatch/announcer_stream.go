package dispatch

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

const (
	// duplicateWindow is how long the stream of events knows what it has, if this package makes it.
	duplicateWindow = 2 * time.Minute
	// codeSubjectsOverlap is the server's error for subjects that another stream has.
	codeSubjectsOverlap jetstream.ErrorCode = 10065
)

// Prepare makes the stream of events, unless it is there, and fails if it would not take them. Announce
// does it when it has to. A server calls it at its start, so that a wrong setting shows there.
// Without events it does nothing.
func (a *Announcer) Prepare(ctx context.Context) error {
	if err := a.prepare(ctx); err != nil {
		return fmt.Errorf("dispatch: %w", err)
	}
	return nil
}

func (a *Announcer) prepare(ctx context.Context) error {
	if !a.events.Enabled || a.ready {
		return nil
	}
	// Half the time of a round, so that a JetStream that is slow to answer is not taken for a server
	// that hangs.
	ctx, cancel := context.WithTimeoutCause(ctx, a.nats.stuck/2, errSilent)
	defer cancel()
	config, err := a.findStream(ctx)
	if err == nil {
		err = a.checkStream(config)
	}
	if cause := context.Cause(ctx); err != nil && cause != nil {
		err = cause // says more than that the context is over
	}
	if err != nil {
		return fmt.Errorf("stream of events %s: %w", a.events.Stream, err)
	}
	a.ready = true
	return nil
}

// findStream returns the configuration of the stream, which it makes if it is not there.
func (a *Announcer) findStream(ctx context.Context) (jetstream.StreamConfig, error) {
	stream, err := a.js.Stream(ctx, a.events.Stream)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		stream, err = a.js.CreateStream(ctx, a.streamConfig())
	}
	if api, ok := errors.AsType[*jetstream.APIError](err); ok && api.ErrorCode == codeSubjectsOverlap {
		return jetstream.StreamConfig{}, a.overlapError(ctx, err)
	}
	if err != nil {
		return jetstream.StreamConfig{}, err
	}
	return stream.CachedInfo().Config, nil
}

func (a *Announcer) streamConfig() jetstream.StreamConfig {
	return jetstream.StreamConfig{
		Name:        a.events.Stream,
		Description: "what became of the runs of Carillon",
		Subjects:    []string{a.prefix + ".events.>"},
		Retention:   jetstream.LimitsPolicy,
		Discard:     jetstream.DiscardOld,
		Storage:     jetstream.FileStorage,
		MaxAge:      a.events.MaxAge,
		MaxBytes:    a.events.MaxBytes,
		Duplicates:  min(duplicateWindow, a.events.MaxAge),
	}
}

// overlapError says which stream is in the way.
func (a *Announcer) overlapError(ctx context.Context, err error) error {
	subject := a.prefix + ".events.>"
	other, unknown := a.js.StreamNameBySubject(ctx, subject)
	if unknown != nil {
		return err
	}
	return fmt.Errorf("cannot be made: the stream %s takes %q, or a part of it, already; use that stream (--events-stream) or take the subjects from it", other, subject)
}

// checkStream tells whether a stream takes every event and says so.
func (a *Announcer) checkStream(c jetstream.StreamConfig) error {
	subject := a.prefix + ".events.*.run.*"
	switch {
	case !slices.ContainsFunc(c.Subjects, func(pattern string) bool { return covers(pattern, subject) }):
		return fmt.Errorf("is there and does not take the subjects %q, but %q; add them, or use another stream (--events-stream)", subject, c.Subjects)
	case c.NoAck:
		return errors.New("is there and acknowledges nothing (no_ack); change that, or use another stream (--events-stream)")
	case c.Sealed:
		return errors.New("is there and sealed, so it takes nothing more; use another stream (--events-stream)")
	}
	return nil
}

// covers tells whether every subject that one pattern matches is matched by the first one too.
func covers(pattern, subject string) bool {
	wide, narrow := strings.Split(pattern, "."), strings.Split(subject, ".")
	for i, token := range wide {
		switch {
		case token == ">":
			return len(narrow) > i
		case i >= len(narrow) || narrow[i] == ">":
			return false
		case token != "*" && token != narrow[i]:
			return false
		}
	}
	return len(wide) == len(narrow)
}
