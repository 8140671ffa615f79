package bus

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"
)

// The beginnings and parts of the embedded server's log lines that are not logged as it asks for.
const (
	// routeError is about a peer that is not up. Nodes are started one by one, so it is expected.
	routeError = "Error trying to connect to route"
	// routeHandshakeError is about a peer, or any other program, without a certificate that this server accepts.
	routeHandshakeError = "TLS route handshake error"
	// handshakeError is about a client. Any program that reaches the port can cause any number of these lines.
	handshakeError = "TLS handshake error"
	// unverifiedRoutes is wrong: see Keeper.Peers in package certs, which verifies in a way that the server does not know.
	unverifiedRoutes = "TLS certificate chain and hostname of solicited routes will not be verified"
)

// handshakesLoggedEvery is the shortest time between two log lines about peers whose handshake fails.
const handshakesLoggedEvery = time.Minute

// natsLogger passes the log lines of the embedded server on to the server's logger. It demotes what the server notes
// about its normal work to the debug level, and a peer that is not up to a warning.
type natsLogger struct {
	log *slog.Logger

	mu       sync.Mutex
	loggedAt time.Time // when a failed handshake of a peer was last logged
}

// Noticef implements [server.Logger], as the other methods do.
func (l *natsLogger) Noticef(format string, v ...any) {
	l.log.Debug("nats: " + fmt.Sprintf(format, v...))
}

func (l *natsLogger) Warnf(format string, v ...any) {
	if strings.HasPrefix(format, unverifiedRoutes) {
		return
	}
	l.log.Warn("nats: " + fmt.Sprintf(format, v...))
}

func (l *natsLogger) Errorf(format string, v ...any) {
	l.log.Log(context.Background(), l.level(format), "nats: "+fmt.Sprintf(format, v...))
}

// level returns the level of an error.
func (l *natsLogger) level(format string) slog.Level {
	switch {
	case strings.HasPrefix(format, routeError):
		return slog.LevelWarn
	case strings.Contains(format, handshakeError):
		return slog.LevelDebug
	case strings.Contains(format, routeHandshakeError):
		l.mu.Lock()
		defer l.mu.Unlock()
		if now := time.Now(); now.Sub(l.loggedAt) >= handshakesLoggedEvery {
			l.loggedAt = now
			return slog.LevelWarn
		}
		return slog.LevelDebug
	}
	return slog.LevelError
}

func (l *natsLogger) Fatalf(format string, v ...any) {
	l.log.Error("nats: " + fmt.Sprintf(format, v...))
}

func (l *natsLogger) Debugf(format string, v ...any) {
	l.log.Debug("nats: " + fmt.Sprintf(format, v...))
}

func (l *natsLogger) Tracef(format string, v ...any) {
	l.log.Debug("nats: " + fmt.Sprintf(format, v...))
}
