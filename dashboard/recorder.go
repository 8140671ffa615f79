package dashboard

import (
	"sync"
	"time"

	"github.com/carillon-io/carillon/scheduler"
)

// The recorder keeps samples of an hour.
const (
	// A shorter interval would make bars of single runs; a longer one hides a pause of some seconds.
	sampleEvery = 10 * time.Second
	// Together they are the longest span of a chart.
	samplesMax = 360
)

// sample is what happened in the engine since the previous sample. at is the end of the interval.
type sample struct {
	at   time.Time
	took time.Duration // time since the previous sample
	// fired and launched may differ: what is decided ahead is launched in a later interval.
	fired    uint64
	launched uint64
	p50, p99 time.Duration // lateness of the runs launched in it; 0 if there were none
}

// recorder keeps the newest samples of the engine in a ring. It exists because the engine counts only totals since
// its start: the charts need differences. The zero value is empty and ready. Its methods are safe for concurrent use.
// The ring has a fixed size of some tens of kilobytes and never allocates after that.
//
// Invariant: the samples lie in the order of time, and last is at least as new as the newest of them.
type recorder struct {
	mu   sync.Mutex
	ring [samplesMax]sample
	used int // samples ever taken; the newest is at (used-1) % samplesMax
	// last has the totals at the end of the newest sample.
	last reading
}

// reading is the counts with which the next sample is compared. The zero value means that there was none.
type reading struct {
	at       time.Time
	fired    uint64
	lateness scheduler.Lateness
}

// add makes a sample of the difference between a status and the previous one. The first status gives no sample, nor
// does one with smaller counts than before, which means that a new leadership began: later ones are compared with it.
// record calls it, from one goroutine.
func (r *recorder) add(now time.Time, status scheduler.Status) {
	r.mu.Lock()
	defer r.mu.Unlock()
	before := r.last
	r.last = reading{now, status.Fired, status.Lateness}
	// Counts that fall mean another engine, whose first counts are no difference to anything.
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

// samples returns the kept samples, the oldest first. The caller owns the slice.
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

// rate returns the runs fired per second, from the present count and the newest sample. The newest sample is part of
// it, because shortly after a sample the time since then is too short for a steady number.
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
