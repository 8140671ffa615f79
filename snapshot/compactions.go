package snapshot

import (
	"sync"
	"time"

	"github.com/cockroachdb/pebble/v2"
)

// grantEvery is the time between two looks whether a waiting compaction may run, while one waits. Most are found earlier,
// at the end of a compaction or of a flush. The look is for what Pebble reports to no one, such as a manual compaction that
// raises the number allowed. It is the interval of Pebble's own scheduler.
const grantEvery = 100 * time.Millisecond

// compactions decides when the compactions of one store run. Like Pebble's own scheduler it runs as many as Pebble
// allows. Pebble's wakes ten times a second for as long as the store is open; this one has no timer while no compaction
// waits, so an idle process with many stores sleeps. Pebble's interface has no argument for the store, so each store has
// one. The zero value is ready, and serves one Open.
//
// The mutex comes after Pebble's own: it is not held during a call that takes those. Only GetAllowedWithoutPermission takes
// none.
//
// Invariant: while Pebble has a compaction that was refused, waiting is true, or a goroutine that grants is about to ask.
// Invariant: while waiting is true and no goroutine grants, the timer runs.
type compactions struct {
	db pebble.DBForCompaction // set by Register, before every other call

	mu       sync.Mutex
	running  int         // granted and not done, with one that is being offered
	waiting  bool        // Pebble may have a compaction that was refused
	granting bool        // a goroutine offers grants to Pebble
	closed   bool        // Unregister was called: Pebble must not be called any more
	granted  sync.Cond   // granting has become false
	timer    *time.Timer // runs grant
}

// Register implements pebble.CompactionScheduler.
func (c *compactions) Register(_ int, db pebble.DBForCompaction) {
	c.mu.Lock() // a machine that stands still lets the timer fire before it is stopped
	defer c.mu.Unlock()
	c.db, c.granted.L = db, &c.mu
	c.timer = time.AfterFunc(grantEvery, c.grant)
	c.timer.Stop()
}

// Unregister implements pebble.CompactionScheduler. When it returns, no call of Pebble is under way, and none follows.
func (c *compactions) Unregister() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	c.timer.Stop()
	for c.granting {
		c.granted.Wait()
	}
}

// TrySchedule implements pebble.CompactionScheduler. Pebble remembers a compaction that is refused, and does not ask again:
// it waits to be asked.
func (c *compactions) TrySchedule() (bool, pebble.CompactionGrantHandle) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.mayRunLocked() {
		c.running++
		return true, c
	}
	c.waiting = true
	c.setTimerLocked()
	return false, nil
}

// UpdateGetAllowedWithoutPermission implements pebble.CompactionScheduler. Pebble calls it after a flush with its own mutex
// held, so the grant is on another goroutine.
func (c *compactions) UpdateGetAllowedWithoutPermission() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.waiting && c.mayRunLocked() {
		c.timer.Reset(0)
	}
}

// Done implements pebble.CompactionGrantHandle: a compaction has ended, and another one may begin.
func (c *compactions) Done() {
	c.mu.Lock()
	c.running--
	c.mu.Unlock()
	c.grant()
}

// grant lets waiting compactions run, as many as Pebble allows. One goroutine grants at a time. It looks again after each
// offer, so it also sees what changed for a goroutine that found it at work.
func (c *compactions) grant() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.granting {
		return
	}
	c.granting = true
	defer c.restLocked()
	for c.waiting && c.mayRunLocked() {
		c.offerLocked()
	}
}

// offerLocked offers Pebble one grant. A refusal by TrySchedule during the offer sets waiting, so it is not lost, although
// Pebble may have answered before it. After an accepted offer Pebble may have more, and says so only when it is asked.
func (c *compactions) offerLocked() {
	c.running++
	c.waiting = false
	if c.offer() {
		c.waiting = true
	} else {
		c.running--
	}
}

// offer calls Pebble without the mutex. A failure may end the goroutine in Pebble, see fault; grant then goes on with its
// deferred calls, and the mutex is held for them.
func (c *compactions) offer() (accepted bool) {
	c.mu.Unlock()
	defer c.mu.Lock()
	waits, _ := c.db.GetWaitingCompaction()
	return waits && c.db.Schedule(c)
}

// mayRunLocked reports whether Pebble allows one more compaction.
func (c *compactions) mayRunLocked() bool {
	return !c.closed && c.db.GetAllowedWithoutPermission() > c.running
}

// restLocked ends a grant.
func (c *compactions) restLocked() {
	c.granting = false
	c.granted.Broadcast()
	c.setTimerLocked()
}

// setTimerLocked starts the timer if a compaction waits, and else stops it.
func (c *compactions) setTimerLocked() {
	if c.waiting && !c.closed {
		c.timer.Reset(grantEvery)
	} else {
		c.timer.Stop()
	}
}

// The other methods of pebble.CompactionGrantHandle are for schedulers that share out the processor.

// Started implements pebble.CompactionGrantHandle.
func (c *compactions) Started() {}

// MeasureCPU implements pebble.CompactionGrantHandle.
func (c *compactions) MeasureCPU(pebble.CompactionGoroutineKind) {}

// CumulativeStats implements pebble.CompactionGrantHandle.
func (c *compactions) CumulativeStats(pebble.CompactionGrantHandleStats) {}
