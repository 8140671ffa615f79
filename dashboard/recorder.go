package dashboard

import (
	"sync"
	"time"

	"github.com/carillon-io/carillon/scheduler"
)

// The recorder keeps an hour.
const (
	sampleEvery = 10 * time.Second
	samplesMax  = 360
)

// sample is what happened since the one before it.
type sample struct {
	at       time.Time
	took     time.Duration // since the sample before
	fired    uint64
	launched uint64
	p50, p99 time.Duration // how late those were that were launched; 0 if there were none
}

// recorder keeps the newest samples of the engine. The zero value is empty and ready. Its methods are safe
// for concurrent use.
type recorder struct {
	mu   sync.Mutex
	ring [samplesMax]sample
	used int // samples ever taken; the newest is at (used-1) % samplesMax
	last reading
}

// reading is what the next sample is compared with.
type reading struct {
	at       time.Time
	fired    uint64
	lateness scheduler.Lateness
}

// take makes a sample of a status. The first status, and one whose counts are smaller than those before,
// because the node has begun a new reign, is only something to compare with.
func (r *recorder) take(now time.Time, status scheduler.Status) {
	r.mu.Lock()
	defer r.mu.Unlock()
	before := r.last
	r.last = reading{now, status.Fired, status.Lateness}
	if before.at.IsZero() || status.Fired < before.fired || status.Lateness.Count < before.lateness.Count {
		return
	}
	late := since(&before.lateness, &status.Lateness)
	r.ring[r.used%samplesMax] = sample{
		at: now, took: now.Sub(before.at), fired: status.Fired - before.fired, launched: late.total,
		p50: late.quantile(0.5), p99: late.quantile(0.99),
	}
	r.used++
}

// samples returns what is kept, the oldest first.
func (r *recorder) samples() []sample {
	r.mu.Lock()
	defer r.mu.Unlock()
	kept := min(r.used, samplesMax)
	list := make([]sample, 0, kept)
	for i := r.used - kept; i < r.used; i++ {
		list = append(list, r.ring[i%samplesMax])
	}
	return list
}

// rate returns how many runs fire a second, by the count that is now and the newest sample.
func (r *recorder) rate(now time.Time, fired uint64) float64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	passed, count := now.Sub(r.last.at), uint64(0)
	if r.last.at.IsZero() || fired < r.last.fired {
		return 0
	}
	count = fired - r.last.fired
	if r.used > 0 {
		newest := r.ring[(r.used-1)%samplesMax]
		passed, count = passed+newest.took, count+newest.fired
	}
	if passed < time.Second {
		return 0
	}
	return float64(count) / passed.Seconds()
}
