package main

import (
	"math"
	"runtime"
	"runtime/debug"
	"slices"
	"time"
)

// round does the load to a fresh structure, and returns what it cost and what went wrong.
func (c *contestant) round(l *timerLoad) ([]figure, []string) {
	debug.FreeOSMemory()
	before := liveHeap()
	figures, broken := c.run(l)
	c.keptBytes += liveHeap() - before
	return figures, broken
}

func (c *contestant) run(l *timerLoad) ([]figure, []string) {
	var log *expiryLog
	if c.step > 0 {
		log = newExpiryLog(l, c.step)
	}
	set := c.open(len(l.first), log)
	empty := liveHeap()
	arm := armAll(set, l, 0, l.n)
	bytes := liveHeap() - empty + c.keptBytes
	figures, lost := change(set, l)
	figures = append([]figure{
		{"timer_bytes", "memory of a pending timer", float64(bytes) / float64(l.n), "B"},
		{"arm_empty_ns", "arm, from none to all", arm, "ns"},
	}, figures...)
	broken := complaints(complaint{lost, "were pending, and could not be cancelled or moved"})
	if c.step > 0 {
		runtime.GC()
		times := sweep(set, c.step, l.end, log)
		figures = append(figures, times.figures(c.step, len(log.ids))...)
		broken = append(broken, l.check(log, c.step)...)
	}
	more, wrong := set.close(l)
	return append(figures, more...), append(broken, wrong...)
}

// armAll arms the timers from one id to before another, and returns the nanoseconds each took.
func armAll(set timerSet, l *timerLoad, from, to int) float64 {
	began := time.Now()
	for id := from; id < to; id++ {
		set.arm(uint64(id), int64(l.first[id]))
	}
	return perTimer(began, to-from)
}

// change cancels a tenth of the timers, arms as many new ones, and moves another tenth. It returns what
// each took, and how many timers the structure could not find.
func change(set timerSet, l *timerLoad) (figures []figure, lost int) {
	began := time.Now()
	for _, id := range l.cancelled {
		if !set.cancel(uint64(id), int64(l.first[id])) {
			lost++
		}
	}
	cancel := perTimer(began, len(l.cancelled))
	arm := armAll(set, l, l.n, len(l.first))
	began = time.Now()
	for _, id := range l.moved {
		if !set.rearm(uint64(id), int64(l.first[id]), int64(l.last[id])) {
			lost++
		}
	}
	return []figure{
		{"arm_full_ns", "arm, beside all the others, after the cancels", arm, "ns"},
		{"cancel_ns", "cancel, in random order", cancel, "ns"},
		{"rearm_ns", "rearm, in random order", perTimer(began, len(l.moved)), "ns"},
	}, lost
}

func perTimer(began time.Time, n int) float64 {
	return float64(time.Since(began)) / float64(n)
}

// liveHeap is the memory that is in use, in bytes, after what is not was collected.
func liveHeap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC() // what the first one found is swept now
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// stepTimes are the nanoseconds that the steps of a clock took, no more than four seconds each.
type stepTimes []uint32

// sweep moves the virtual clock from 0 to end, step by step. One reading of the real clock ends a step
// and begins the next.
func sweep(set timerSet, step, end int64, log *expiryLog) stepTimes {
	times := stepTimes(touched[uint32](int(end/step) + 1))
	last := time.Now()
	for now := step; now < end+step; now += step {
		set.advance(now)
		log.mark()
		at := time.Now()
		times = append(times, uint32(min(at.Sub(last), math.MaxUint32)))
		last = at
	}
	return times
}

// figures returns what advancing cost. What it takes to time a step is measured with a structure that
// does nothing, and taken off: with fewer timers than steps, it would be most of the cost.
func (s stepTimes) figures(step int64, expired int) []figure {
	idle := sweep(nothing{}, step, int64(len(s))*step, &expiryLog{ends: touched[int](len(s) + 1)})
	slices.Sort(s)
	slices.Sort(idle)
	cost := float64(s.total()) - idle.undisturbed()*float64(len(s))
	const ns = 1000
	return []figure{
		{"advance_ns", "advance, for each timer that expires, empty steps included", cost / float64(max(expired, 1)), "ns"},
		{"step_p50_us", "one step, p50", float64(s.at(500_000)) / ns, "µs"},
		{"step_p9999_us", "one step, p99.99", float64(s.at(999_900)) / ns, "µs"},
		{"step_worst_us", "the worst step", float64(s.at(1_000_000)) / ns, "µs"},
		{"idle_worst_us", "the worst step of a loop that does nothing", float64(idle.at(1_000_000)) / ns, "µs"},
	}
}

func (s stepTimes) total() (sum int64) {
	for _, t := range s {
		sum += int64(t)
	}
	return sum
}

// undisturbed is the mean without the slowest hundredth, in which the system took the processor away.
// The times must be sorted.
func (s stepTimes) undisturbed() float64 {
	quick := s[:len(s)-len(s)/100]
	return float64(quick.total()) / float64(max(len(quick), 1))
}

// at returns the time of a rank, by nearest rank in a million. The times must be sorted, and some.
func (s stepTimes) at(perMillion int) uint32 {
	rank := (len(s)*perMillion + 999_999) / 1_000_000
	return s[max(rank, 1)-1]
}
