package bus

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/url"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-io/carillon/serverurl"
)

// How a start waits for outside NATS servers that are not up yet. The wait has no end, because a machine may
// start both at the same time.
const (
	// The pace of the attempts: a server on the same machine that starts beside this one is found soon after it
	// listens.
	absentEvery    = 250 * time.Millisecond
	absentSayEvery = 5 * time.Second
)

// awaitNATS makes the first connection. It returns when NATS accepts it or refuses it, or when ctx ends. A refusal
// ends the start at once, because an operator should see a wrong password now, rather than a process that waits for
// ever.
func (b *Bus) awaitNATS(ctx context.Context) (err error) {
	var said time.Time
	for {
		if b.api, err = b.Connect("carillon api"); err == nil || !isAbsence(err) {
			return err
		}
		if ctx.Err() != nil {
			return errors.Join(err, ctx.Err())
		}
		if time.Since(said) >= absentSayEvery {
			said = time.Now()
			b.opts.Logger.Warn("waiting for NATS: no server is there; start it, or correct --nats", slog.String("nats", serverurl.Redact(b.url)), slog.Any("error", errors.Unwrap(err)))
		}
		select {
		case <-ctx.Done(): // the next attempt is the last
		case <-time.After(absentEvery):
		}
	}
}

// isAbsence reports whether a connection failed because no server answers yet. Waiting cannot help against a server
// that refuses the connection or cannot be trusted. TLS alerts and malformed URLs are checked first: both may also be
// a net.Error, and no wait mends them. A server at its bound of connections counts as absent, because others may leave
// it.
func isAbsence(err error) bool {
	if _, ok := errors.AsType[tls.AlertError](err); ok {
		return false
	}
	if _, ok := errors.AsType[*url.Error](err); ok {
		return false
	}
	for _, absence := range []error{nats.ErrNoServers, nats.ErrTimeout, nats.ErrStaleConnection, nats.ErrMaxConnectionsExceeded, io.EOF} {
		if errors.Is(err, absence) {
			return true
		}
	}
	_, ok := errors.AsType[net.Error](err)
	return ok
}
