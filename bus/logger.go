package bus

import (
	"context"
	"fmt"
	"log/slog"
	"strconv"
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
	// unknownAccount is about the account of a tenant that another node has. That node has read a new file of rights, and this
	// one reads it soon; clients there then connect again, see announce.
	unknownAccount = "Unknown account"
	// unverifiedRoutes is wrong: see Keeper.Peers in package certs, which verifies in a way that the server does not know.
	unverifiedRoutes = "TLS certificate chain and hostname of solicited routes will not be verified"
)

// handshakesLoggedEvery is the shortest time between two log lines about peers whose handshake fails.
const handshakesLoggedEvery = time.Minute

// linesPerSecond bounds the warnings and errors that are logged in a second. A client can cause any number of them, for
// example by publishing where it may not.
const linesPerSecond = 10

// natsLogger passes the log lines of the embedded server on to the server's logger. It demotes what the server notes
// about its normal work to the debug level, and a peer that is not up, or that has read other rights, to a warning. It bounds warnings and errors, and
// removes the names of users, since a client may give its token as one.
type natsLogger struct {
	log       *slog.Logger
	strangers *strangers // told of peers that are not let in; nil: no listener is

	mu       sync.Mutex
	loggedAt time.Time // when a failed handshake of a peer was last logged
	second   time.Time // in which lines counts
	lines    int
	dropped  int // lines since the last one that was logged
}

// Noticef implements [server.Logger], as the other methods do.
func (l *natsLogger) Noticef(format string, v ...any) {
	text := fmt.Sprintf(format, v...)
	l.strangers.noteClosed(text, func(better string) { l.bounded(slog.LevelWarn, better) })
	l.log.Debug("nats: " + text)
}

func (l *natsLogger) Warnf(format string, v ...any) {
	if strings.HasPrefix(format, unverifiedRoutes) {
		return
	}
	l.bounded(slog.LevelWarn, fmt.Sprintf(format, v...))
}

func (l *natsLogger) Errorf(format string, v ...any) {
	text := fmt.Sprintf(format, v...) // a part that is looked for may be an argument
	if better, level := l.strangers.note(text, v, time.Now()); better != "" {
		l.bounded(level, better)
		return
	}
	l.bounded(l.level(text), text)
}

// bounded logs a line, unless there were too many in this second. The next line that is logged says how many were not.
func (l *natsLogger) bounded(level slog.Level, text string) {
	if level > slog.LevelDebug {
		dropped, ok := l.admit(time.Now())
		if !ok {
			return
		}
		if dropped > 0 {
			l.log.Warn("nats: too many warnings and errors in a second, so some are not logged", slog.Int("dropped", dropped))
		}
	}
	l.log.Log(context.Background(), level, "nats: "+withoutUser(text))
}

// admit counts a line, and reports whether it may be logged, and how many before it were not.
func (l *natsLogger) admit(now time.Time) (dropped int, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if second := now.Truncate(time.Second); !second.Equal(l.second) {
		l.second, l.lines = second, 0
	}
	if l.lines++; l.lines > linesPerSecond {
		l.dropped++
		return 0, false
	}
	dropped, l.dropped = l.dropped, 0
	return dropped, true
}

// userMark is before the name of a user in the lines about refused clients and requests.
const userMark = `User "`

// withoutUser replaces the name of the user in a line, which the server has quoted.
func withoutUser(text string) string {
	before, rest, found := strings.Cut(text, userMark)
	if !found {
		return text
	}
	quoted, err := strconv.QuotedPrefix(`"` + rest)
	if err != nil {
		return before + userMark + "…"
	}
	return before + userMark + `…"` + rest[len(quoted)-1:]
}

// level returns the level of an error.
func (l *natsLogger) level(text string) slog.Level {
	switch {
	case strings.HasPrefix(text, routeError), strings.HasPrefix(text, unknownAccount):
		return slog.LevelWarn
	case strings.Contains(text, handshakeError):
		return slog.LevelDebug
	case strings.Contains(text, routeHandshakeError):
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
