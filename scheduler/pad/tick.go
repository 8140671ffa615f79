package pad

import (
	"math"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/carillon-io/carillon/instant"
)

// How a tick works. Lateness arises here and nowhere else: commits, reads of the store and replies all happen ahead
// of the due time or after it. A tick is a goroutine that keeps a thread of the operating system while it waits: it sleeps in a
// system call, with a timer slack of one nanosecond, until the next launch is due. Go's own timers wait for the Go
// scheduler, which other goroutines keep busy, and are milliseconds late on a machine with every core in use. When it
// wakes, the thread needs a free P. The program therefore sets GOMAXPROCS above the number of cores, and leaves it to
// the kernel to share the cores.
//
// After launches the tick yields before it sleeps, so that the goroutines which it has woken, as the publisher, run at once, on its
// thread. If it kept its P and slept, another thread would have to wake for each launch, and to wait before it takes them over.
// It is not bound to a thread: a bound goroutine that yields needs two changes of threads.
//
// A tick serves several pads, because every thread that wakes takes a P and a core from the others: with one for each
// of eight pads, the same launches take four times as many wakes, and each wake waits for the other threads. It never
// waits for the lock of one pad while another has something due.

// IdleMax is the longest sleep of a tick, so that it notices when the wall clock is set. It bounds every other sleep
// until an instant of the wall clock, for the same reason. A clock that is set forward thus delays a launch by at most
// this long; a shorter sleep would wake an idle process more often.
const IdleMax = 500 * time.Millisecond

// distrustPause is how long a tick waits before it checks a pad again, while launches are due there and none may leave.
// Trust comes back without a signal, so the tick must ask for it: this is the delay that a launch can suffer by that.
const distrustPause = 5 * time.Millisecond

// busyPause is how long a tick leaves a pad alone whose lock another goroutine has. Such a lock is held for some microseconds
// usually, and for a millisecond if its holder loses its core. A shorter pause takes more of that core.
const busyPause = 100 * time.Microsecond

// awake is the wakeAt of a tick that is not asleep: the goroutine that stirs one of its pads need not ring, because the tick
// looks for stirred pads before it sleeps.
const awake instant.Millis = math.MinInt64

// tick is a thread that launches what is due on some pads. It has its alarm from the first pad to be armed until the last
// is disarmed, and its thread while one of them is served.
type tick struct {
	alarm *alarm
	armed int // pads whose alarm it is; guarded by Ticks.mu
	// wakeAt is when the thread wakes by itself: no launch that is due later need wake it.
	wakeAt atomic.Int64

	mu      sync.Mutex
	seats   []*seat // that it serves; a list is not changed once it is here
	left    []*seat // of pads that it has to let go
	running bool
}

// seat is the place of a pad at a tick, from Arm to Disarm.
type seat struct {
	pad     *Pad
	tick    *tick
	stirred atomic.Bool   // the pad has something to launch that its tick does not know
	look    time.Time     // when the tick has to look at the pad; of the tick's goroutine
	gone    chan struct{} // closed when the tick has let the pad go
}

// wake makes the tick launch what is due at an instant; 0 or before now: at once. It may be called with locks of the pad
// held.
func (s *seat) wake(due instant.Millis) {
	s.stirred.Store(true)
	if due < instant.Millis(s.tick.wakeAt.Load()) { // read after the store: see rest
		s.tick.alarm.ring()
	}
}

// serve makes the tick launch what is due on the pad, until leave.
func (s *seat) serve() {
	t := s.tick
	s.gone, s.look = make(chan struct{}), time.Time{}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.seats = append(t.seats[:len(t.seats):len(t.seats)], s)
	if !t.running {
		t.running = true
		go t.run()
	}
	t.alarm.ring()
}

// leave returns when the tick launches nothing of the pad any more.
func (s *seat) leave() {
	t := s.tick
	t.mu.Lock()
	t.left = append(t.left, s)
	t.mu.Unlock()
	t.alarm.ring()
	<-s.gone
}

// present returns the pads to serve, and lets go those that left. It returns none when the thread is to end.
func (t *tick) present() []*seat {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, s := range t.left {
		t.seats = without(t.seats, s)
		close(s.gone)
	}
	t.left = nil
	t.running = len(t.seats) > 0
	return t.seats
}

// without returns a copy of a list without one seat.
func without(seats []*seat, one *seat) []*seat {
	var kept []*seat
	for _, s := range seats {
		if s != one {
			kept = append(kept, s)
		}
	}
	return kept
}

// run launches what is due until no pad is left. It never sleeps while something can leave. Whatever makes a launch due
// earlier than the tick knows must call wake.
func (t *tick) run() {
	sharpenThread()
	var ready []*waiting
	for seats := t.present(); len(seats) > 0; seats = t.present() {
		t.wakeAt.Store(int64(awake))
		var more, some bool
		if more, some, ready = round(seats, ready); more {
			continue
		}
		if some {
			runtime.Gosched()
			sharpenThread() // it may be another one now
		}
		t.rest(seats)
	}
}

// round launches what is due on each pad, once, and reports whether a pad has more, and whether something has left. It reads the
// clock once for the pads that have nothing due: all pads of a tick have the clock of the process.
func round(seats []*seat, ready []*waiting) (more, some bool, _ []*waiting) {
	now := seats[0].pad.clock()
	for _, s := range seats {
		if !s.stirred.Swap(false) && s.look.After(now) {
			continue
		}
		var rest bool
		rest, ready = s.launch(ready[:0], len(seats) == 1)
		more, some = more || rest, some || len(ready) > 0
	}
	return more, some, ready
}

// launch launches what is due on the pad, as much as goes at once, and notes when the tick has to look again. Unless it may
// wait, it does nothing while another goroutine has a lock of the pad.
func (s *seat) launch(ready []*waiting, mayWait bool) (more bool, _ []*waiting) {
	p, now := s.pad, s.pad.clock()
	if !mayWait && !p.isFree() {
		s.look = now.Add(busyPause)
		return false, ready
	}
	more, ready = p.launchDue(instant.Of(now), ready)
	if s.look = now; !more {
		s.look = p.nextLook()
	}
	return more, ready
}

// nextLook returns when a tick has to look at the pad again. It reads the clock anew: counted from a reading before the launches, it
// would be too early by what they took, and the tick would wake for nothing before each launch.
func (p *Pad) nextLook() time.Time {
	now := p.clock()
	return now.Add(p.untilDue(now))
}

// isFree reports whether launches could leave now without waiting for a lock. The answer may be outdated at once.
func (p *Pad) isFree() bool {
	if !p.sending.TryLock() {
		return false
	}
	defer p.sending.Unlock()
	if !p.mu.TryLock() {
		return false
	}
	p.mu.Unlock()
	return true
}

// rest sleeps until a pad has something due, or is stirred. It tells when it will wake before it looks for stirred pads: a
// goroutine that stirs one afterwards sees the time, and rings if that is too late.
func (t *tick) rest(seats []*seat) {
	first := seats[0]
	for _, s := range seats[1:] {
		if s.look.Before(first.look) {
			first = s
		}
	}
	t.wakeAt.Store(int64(instant.Up(first.look)))
	for _, s := range seats {
		if s.stirred.Load() {
			return
		}
	}
	t.alarm.sleep(first.look.Sub(first.pad.clock()))
}

// untilDue returns how long from now a tick may leave the pad alone; 0 or less if something is due. While launches are due and may
// not leave it returns distrustPause, because the tick would otherwise never sleep until trust is back.
func (p *Pad) untilDue(now time.Time) time.Duration {
	now = now.Round(0) // the wall clock, by which launches are due
	due := p.NextDue()
	idle := untilLook(now)
	if due == 0 {
		return idle
	}
	wait := min(idle, due.Time().Sub(now))
	if wait <= 0 && !p.mayLeave() {
		return distrustPause
	}
	return wait
}

// untilLook returns the time until an idle tick next notices that the clock was set: more than 0, and IdleMax at most. All
// ticks of a process wake at the same instants, because the Go runtime watches a thread that has gone to sleep in the
// kernel, with some fifty wakes of its own in the next ten milliseconds, and watches many with as many as one. The
// instants are a quarter of a second away from whole seconds, at which most launches are due.
func untilLook(now time.Time) time.Duration {
	return IdleMax - time.Duration(now.Add(IdleMax/2).UnixNano())%IdleMax
}
