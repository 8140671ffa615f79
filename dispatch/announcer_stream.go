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
	// duplicateWindow is how long a stream of events that this package creates remembers message ids. It is to
	// exceed the time from a failed round to its repetition; the server keeps the ids of the window in memory.
	duplicateWindow = 2 * time.Minute
	// codeSubjectsOverlap is the server's error code for subjects that belong to another stream.
	codeSubjectsOverlap jetstream.ErrorCode = 10065
)

// Prepare creates the stream of events unless it exists, and returns an error if the existing one would
// not accept the events. Announce calls it when necessary. A server calls it at its start, so that a
// wrong setting is reported there. Without events it does nothing.
func (a *Announcer) Prepare(ctx context.Context) error {
	if err := a.prepare(ctx); err != nil {
		return fmt.Errorf("dispatch: %w", err)
	}
	return nil
}

// prepare does what Prepare does, unless the stream is known to be ready. A stream that another program
// deletes meanwhile fails a round, which resets ready.
func (a *Announcer) prepare(ctx context.Context) error {
	if !a.events.Enabled || a.ready {
		return nil
	}
	// Half the time of a round, so that a JetStream that answers slowly is not taken for a hanging
	// server.
	ctx, cancel := context.WithTimeoutCause(ctx, a.nats.stuck/2, errSilent)
	defer cancel()
	config, err := a.findStream(ctx)
	if err == nil {
		err = a.checkStream(config)
	}
	if cause := context.Cause(ctx); err != nil && cause != nil {
		err = cause // more precise than the error that the context is over
	}
	if err != nil {
		return fmt.Errorf("stream of events %s: %w", a.events.Stream, err)
	}
	a.ready = true
	return nil
}

// findStream returns the configuration of the stream. It creates the stream if it does not exist.
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

// streamConfig returns the configuration of the stream that findStream creates.
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

// overlapError returns err with the name of the other stream that has the subjects.
func (a *Announcer) overlapError(ctx context.Context, err error) error {
	subject := a.prefix + ".events.>"
	other, unknown := a.js.StreamNameBySubject(ctx, subject)
	if unknown != nil {
		return err
	}
	return fmt.Errorf("cannot be made: the stream %s takes %q, or a part of it, already; use that stream (--events-stream) or take the subjects from it", other, subject)
}

// checkStream returns nil if a stream accepts and acknowledges every event, otherwise an error that says
// what to change. It accepts every other setting, because an operator may have chosen it: a stream that
// exists is never changed.
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

// covers reports whether pattern matches every subject that the pattern subject matches.
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
