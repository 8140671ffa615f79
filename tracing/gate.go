package tracing

import (
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

// gate bounds the spans that wait for the collector, including those in the post under way, to queueMax.
// The library's own queue behind it would drop spans too, but without counting them. Since that queue has the
// same bound, and the gate counts more than what is in it, the queue is never full.
type gate struct {
	sdktrace.SpanProcessor
	waiting *atomic.Int64 // shared with the exporter, which subtracts the spans of each batch when it has ended
	losses  *losses
}

var errQueueFull = errors.New("too many spans wait for the collector")

// OnEnd implements sdktrace.SpanProcessor. It runs on the goroutine that ends the span, which may conclude an
// attempt: so it never waits, and drops the newest span if there is no room. Spans that are not sampled are
// not exported and need no room.
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

// lossesEvery is the least time between two log lines about losses. A collector that is down loses spans with
// every batch; the count of Tracer.Lost shows the rate.
const lossesEvery = time.Minute

// losses counts lost spans and logs them: the first at once, then those of a minute together. It is safe
// for concurrent use.
type losses struct {
	logger *slog.Logger

	mu       sync.Mutex
	all      uint64    // spans lost since the start
	unlogged int       // those of them that no line has reported
	reason   error     // of the newest loss
	loggedAt time.Time // of the last line; zero before the first, so that the first loss is logged at once
}

// add counts n lost spans, and logs them if the last line is long enough ago.
func (l *losses) add(n int, reason error) {
	l.mu.Lock()
	l.all, l.unlogged, l.reason = l.all+uint64(n), l.unlogged+n, reason
	due := time.Since(l.loggedAt) >= lossesEvery
	l.mu.Unlock()
	if due {
		l.log()
	}
}

// log writes one line about the losses since the last line, if there are any.
func (l *losses) log() {
	l.mu.Lock()
	n, all, reason := l.unlogged, l.all, l.reason
	l.unlogged, l.loggedAt = 0, time.Now()
	l.mu.Unlock()
	if n > 0 {
		l.logger.Warn("spans were lost; everything else goes on", slog.Int("spans", n), slog.Uint64("since_start", all), slog.Any("error", reason))
	}
}

// count returns the number of lost spans so far.
func (l *losses) count() uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.all
}
