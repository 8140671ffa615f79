package main

import "fmt"

// expiryLog is what expired, in order, and where each step of the clock ended. Writing it costs every
// structure the same, and little: it is read when the clock has stopped.
type expiryLog struct {
	ids  []uint32
	ends []int // by step: how many had expired after it
}

func newExpiryLog(l *timerLoad, step int64) *expiryLog {
	return &expiryLog{ids: touched[uint32](len(l.last)), ends: touched[int](int(l.end/step) + 1)}
}

// touched is an empty slice with room for n, in memory that was written to before: the first write
// to a page is slow, and would count as a step's time.
func touched[T any](n int) []T {
	room := make([]T, n)
	clear(room)
	return room[:0]
}

func (e *expiryLog) fire(id uint64) { e.ids = append(e.ids, uint32(id)) }

func (e *expiryLog) mark() { e.ends = append(e.ends, len(e.ids)) }

// check compares what expired with what was due: every timer that was not cancelled, once, in the
// very step in which it is due. It returns what is wrong.
func (l *timerLoad) check(e *expiryLog, step int64) []string {
	var early, late, again, gone int
	cancelled, seen := l.isCancelled(), make([]bool, len(l.last))
	from := 0
	for i, end := range e.ends {
		now := int64(i+1) * step
		for _, id := range e.ids[from:end] {
			due := int64(l.last[id])
			switch {
			case cancelled[id]:
				gone++
			case seen[id]:
				again++
			case due > now:
				early++
			case due <= now-step:
				late++
			}
			seen[id] = true
		}
		from = end
	}
	missing := 0
	for id := range seen {
		if !seen[id] && !cancelled[id] {
			missing++
		}
	}
	return complaints(
		complaint{early, "expired before the step they were due in"},
		complaint{late, "expired after the step they were due in"},
		complaint{again, "expired again"},
		complaint{gone, "expired although they were cancelled"},
		complaint{missing, "never expired"},
	)
}

// complaint is a number of timers that broke a promise.
type complaint struct {
	count int
	text  string
}

// complaints returns those that there is reason for.
func complaints(all ...complaint) []string {
	var texts []string
	for _, c := range all {
		if c.count > 0 {
			texts = append(texts, fmt.Sprintf("%d timers %s", c.count, c.text))
		}
	}
	return texts
}
