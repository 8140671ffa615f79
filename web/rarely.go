package web

import (
	"sync"
	"time"
)

// linesPerSecond is how many lines of one kind are logged in a second, if callers can cause any number.
const linesPerSecond = 10

// rarely bounds lines of the log. The zero value is ready. Safe for concurrent use.
type rarely struct {
	mu     sync.Mutex
	second time.Time // in which logged counts
	logged int
}

// mayLog counts a line, and reports whether it may be logged.
func (r *rarely) mayLog(now time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if now = now.Truncate(time.Second); !now.Equal(r.second) {
		r.second, r.logged = now, 0
	}
	r.logged++
	return r.logged <= linesPerSecond
}
