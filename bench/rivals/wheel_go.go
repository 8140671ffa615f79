package main

import (
	"context"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync/atomic"
	"syscall"
	"time"
)

// goTimers are timers of the Go runtime. They have the runtime's clock and none other, so that advancing
// is measured apart, in real time; here none of them is due before the round is over.
type goTimers struct {
	handles []*time.Timer // by id
}

func newGoTimers(ids int, _ *expiryLog) timerSet {
	return &goTimers{handles: make([]*time.Timer, ids)}
}

// ignoreTimer is the one callback of all timers that never fire.
func ignoreTimer() {}

func ahead(at int64) time.Duration { return time.Duration(at) * time.Millisecond }

func (g *goTimers) arm(id uint64, at int64) { g.handles[id] = time.AfterFunc(ahead(at), ignoreTimer) }

func (g *goTimers) cancel(id uint64, _ int64) bool { return g.handles[id].Stop() }

func (g *goTimers) rearm(id uint64, _, to int64) bool { return g.handles[id].Reset(ahead(to)) }

func (g *goTimers) advance(int64) { panic("the clock of the Go runtime cannot be moved") }

// close stops all timers, of which each that was not cancelled must still have been pending. The runtime
// forgets stopped timers only when it schedules on the processor they belong to, so all are
// gathered on one, and that one is made to schedule.
func (g *goTimers) close(l *timerLoad) ([]figure, []string) {
	lost, back := 0, 0
	gone := l.isCancelled()
	for id, timer := range g.handles {
		pending := timer.Stop()
		switch {
		case pending && gone[id]:
			back++
		case !pending && !gone[id]:
			lost++
		}
		g.handles[id] = nil
	}
	processors := runtime.GOMAXPROCS(1)
	runtime.Gosched()
	runtime.GOMAXPROCS(processors)
	return nil, complaints(
		complaint{lost, "were lost before they were due"},
		complaint{back, "were pending although they were cancelled"},
	)
}

// realTimeMax bounds the timers that expire in real time, and realTimeRate is how many do in a second.
const (
	realTimeMax  = 1_000_000
	realTimeRate = 100_000
)

func realTimeOf(n int) int { return min(n, realTimeMax) }

// realTimer is what became of one timer.
type realTimer struct {
	due   time.Time
	late  time.Duration
	count atomic.Int32
}

// realTime is a number of runtime timers that are due one after the other while the clock runs.
type realTime struct {
	timers  []realTimer
	handles []*time.Timer
	pending atomic.Int64
	over    chan struct{} // closed when the last one has fired
}

// runRealTime arms n timers at random moments of a window, cancels a tenth before it begins, and returns
// how late the others came and what processor time each took.
func runRealTime(ctx context.Context, n int, seed uint64) ([]figure, []string) {
	window := time.Duration(n) * time.Second / realTimeRate
	lead := time.Second + time.Duration(n)*3*time.Microsecond
	begin := time.Now().Add(lead)
	r := &realTime{timers: make([]realTimer, n), handles: make([]*time.Timer, n), over: make(chan struct{})}
	r.pending.Store(int64(n - n/10))
	random := rand.New(rand.NewPCG(seed, uint64(n)))
	for i := range r.timers {
		r.arm(i, begin.Add(time.Duration(random.Int64N(int64(window)))))
	}
	lost := 0
	for i := range n / 10 {
		if !r.handles[10*i].Stop() {
			lost++
		}
	}
	time.Sleep(time.Until(begin))
	before := processorTime()
	r.wait(ctx, window+10*time.Second)
	spent := processorTime() - before
	if ctx.Err() != nil {
		return nil, nil
	}
	figures, broken := r.tell(spent)
	return figures, append(broken, complaints(complaint{lost, "could not be cancelled in time"})...)
}

func (r *realTime) arm(i int, due time.Time) {
	t := &r.timers[i]
	t.due = due
	r.handles[i] = time.AfterFunc(time.Until(due), func() {
		t.late = time.Since(t.due)
		t.count.Add(1)
		if r.pending.Add(-1) == 0 {
			close(r.over)
		}
	})
}

// wait waits for the last timer, though not forever.
func (r *realTime) wait(ctx context.Context, most time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(most):
	case <-r.over:
	}
	for _, timer := range r.handles {
		timer.Stop()
	}
}

// tell returns the lateness of all that fired and whether these were the right ones.
func (r *realTime) tell(spent time.Duration) ([]figure, []string) {
	var late []time.Duration
	var early, again, gone, missing int
	for i := range r.timers {
		t := &r.timers[i]
		count, cancelled := int(t.count.Load()), i%10 == 0 && i/10 < len(r.timers)/10
		switch {
		case cancelled:
			gone += count
			continue
		case count == 0:
			missing++
			continue
		case count > 1:
			again++
		case t.late < 0:
			early++
		}
		late = append(late, t.late)
	}
	broken := complaints(
		complaint{early, "fired early in real time"},
		complaint{again, "fired again in real time"},
		complaint{gone, "fired in real time although they were cancelled"},
		complaint{missing, "never fired in real time"},
	)
	return r.figures(late, spent), broken
}

// figures returns the distribution of the lateness.
func (r *realTime) figures(late []time.Duration, spent time.Duration) []figure {
	if len(late) == 0 {
		return nil
	}
	slices.Sort(late)
	at := func(per1000 int) float64 {
		rank := (len(late)*per1000 + 999) / 1000
		return float64(late[max(rank, 1)-1]) / float64(time.Millisecond)
	}
	return []figure{
		{"real_timers", "timers that fired in real time", float64(len(late)), ""},
		{"real_cpu_ns", "processor time of each", float64(spent) / float64(len(late)), "ns"},
		{"real_late_p50_ms", "lateness in real time, p50", at(500), "ms"},
		{"real_late_p99_ms", "lateness in real time, p99", at(990), "ms"},
		{"real_late_max_ms", "lateness in real time, max", at(1000), "ms"},
	}
}

// processorTime is what this process has used so far.
func processorTime() time.Duration {
	var used syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &used) != nil {
		return 0
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
