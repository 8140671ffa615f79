package bus

import (
	"fmt"
	"sync"
	"time"

	"github.com/carillon-io/carillon/serverurl"
)

// What operators learn of a connection to NATS that is broken, or that NATS refuses.

// Broken returns a warning for the status while the connection on which requests are answered is broken; none otherwise. Safe for
// concurrent use, once the bus is open.
func (b *Bus) Broken() []string {
	if !b.api.IsReconnecting() {
		return nil
	}
	why := ""
	if err := b.api.LastError(); err != nil {
		why = fmt.Sprintf(" (%s)", err)
	}
	return []string{fmt.Sprintf("the connection to NATS at %s is broken%s: no request over NATS reaches this server, and runs with targets of NATS wait; it comes back by itself when NATS takes it",
		serverurl.Redact(b.url), why)}
}

// sameErrorEvery is how often a connection logs an error that repeats: a server that refuses it does so several times a second.
const sameErrorEvery = 10 * time.Second

// echoes keeps the errors of a connection from filling the log. Safe for concurrent use.
type echoes struct {
	mu   sync.Mutex
	last string
	at   time.Time
}

// isNew reports whether an error is to be logged: it is another one than the last, or that was logged a while ago.
func (e *echoes) isNew(err error, now time.Time) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if text := err.Error(); text != e.last || now.Sub(e.at) >= sameErrorEvery {
		e.last, e.at = text, now
		return true
	}
	return false
}
