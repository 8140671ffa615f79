package replication

import (
	"log/slog"
	"maps"
	"sync"
	"time"
)

// warner logs repeated problems. The zero value is ready to use. Safe for concurrent use.
type warner struct {
	mu   sync.Mutex
	last map[string]time.Time // when each text was last logged
}

// warnedMax bounds how many texts are remembered. Some have the name of another node, so their number has no bound.
const warnedMax = 64

// warn logs a problem, at most once in warnBetween for each text. The loops repeat what fails up to twenty times a
// second. If more texts than warnedMax come within warnBetween, further ones are not logged.
func (w *warner) warn(log *slog.Logger, what string, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := time.Now()
	if now.Sub(w.last[what]) < warnBetween {
		return
	}
	if len(w.last) >= warnedMax {
		maps.DeleteFunc(w.last, func(_ string, at time.Time) bool { return now.Sub(at) >= warnBetween })
		if len(w.last) >= warnedMax {
			return
		}
	}
	if w.last == nil {
		w.last = make(map[string]time.Time)
	}
	w.last[what] = now
	log.Warn(what, slog.Any("error", err))
}

// warn logs a repeated problem of this member.
func (n *Node) warn(what string, err error) { n.warned.warn(n.opts.Logger, what, err) }
