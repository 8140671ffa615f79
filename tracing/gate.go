package tracing

import (
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

// gate lets at most queueMax spans wait for the collector, those in the post under way among them. It
// stands before the queue of the library, which drops too, but counts for nobody.
type gate struct {
	sdktrace.SpanProcessor
	waiting *atomic.Int64 // the exporter takes off what it is done with
	losses  *losses
}

var errQueueFull = errors.New("too many spans wait for the collector")

// OnEnd implements sdktrace.SpanProcessor.
func (g *gate) OnEnd(s sdktrace.ReadOnlySpan) {
	if !s.SpanContext().IsSampled() {
		return
	}
	if g.waiting.Add(1) > queueMax {
		g.waiting.Add(-1)
		g.losses.add(1, errQueueFull)
		return
	}
	g.SpanProcessor.OnEnd(s)
}

// lossesEvery is how often the log tells of losses.
const lossesEvery = time.Minute

// losses counts lost spans, and logs them: the first at once, then those of a minute together.
type losses struct {
	logger *slog.Logger

	mu     sync.Mutex
	all    uint64
	untold int
	reason error // of the newest
	told   time.Time
}

func (l *losses) add(n int, reason error) {
	l.mu.Lock()
	l.all, l.untold, l.reason = l.all+uint64(n), l.untold+n, reason
	due := time.Since(l.told) >= lossesEvery
	l.mu.Unlock()
	if due {
		l.tell()
	}
}

// tell logs what has not been told.
func (l *losses) tell() {
	l.mu.Lock()
	n, all, reason := l.untold, l.all, l.reason
	l.untold, l.told = 0, time.Now()
	l.mu.Unlock()
	if n > 0 {
		l.logger.Warn("spans were lost; everything else goes on", slog.Int("spans", n), slog.Uint64("since_start", all), slog.Any("error", reason))
	}
}

func (l *losses) count() uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.all
}
