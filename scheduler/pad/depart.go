package pad

import (
	"github.com/carillon-io/carillon/instant"
	"github.com/carillon-io/carillon/job"
)

// departuresMax bounds the launches that go to the sender at once. The sending lock is kept for so many, and trust is
// checked once for all of them. A larger number makes the other goroutines wait longer, and lets more launches leave
// after trust is over; a smaller one costs more locking.
const departuresMax = 256

// departures are the prepared launches that wait to be sent, in the order in which they will leave. The tick and the
// feeders both send them, in this order. Invariant: each launch in boarded has a reserved place, which it either uses
// or gives back through unused.
type departures struct {
	// boarded are launches that have their place, in the order in which the feeders read their deliveries.
	boarded []*waiting
	// found are jobs whose next launches may enter their lanes. A job may be listed several times, or in vain.
	found []job.ID

	// leaving is scratch for the launches that a feeder sends. sending alone guards it, not mu.
	leaving []*waiting
	// unused are places to be released without holding mu, because Release may call up another lane. sending guards
	// it.
	unused []place
}

// place is a place at a target, of a lane and a payload size. The sender needs both to release it: a place has a size,
// and large payloads count against a bound of their own.
type place struct {
	lane   job.Lane
	weight int
}

// ready attaches the delivery to a launch. If the launch became due meanwhile it is sent now, or waits for what it
// lacks. If nothing may leave, the tick sends it later.
func (p *Pad) ready(w *waiting, d *job.Delivery, err error, now instant.Millis) {
	mayLeave := p.mayLeave()
	p.sending.Lock()
	defer p.sending.Unlock()
	p.mu.Lock()
	p.readyLocked(w, d, err)
	p.leaving = p.leaving[:0]
	if mayLeave && !p.held { // otherwise it keeps its place, like a launch that waits for trust
		p.leaving = p.departLocked(now, p.leaving)
	}
	if w.spot == atSeek {
		p.spareLocked(w)
	}
	if p.isDepartingLocked() {
		p.wake(instant.LongAgo)
	}
	p.mu.Unlock()
	p.sendAll(p.leaving)
}

func (p *Pad) readyLocked(w *waiting, d *job.Delivery, err error) {
	w.reading = false
	if !w.gone {
		p.loadLocked(w, d, err)
	}
	switch {
	case w.placed:
		p.boarded = append(p.boarded, w)
	case w.spot == atSeek:
		p.foundLocked(w)
	case w.spot == atSoon && p.ahead > aheadBytesMax:
		p.unloadLocked(w)
	}
}

// isDepartingLocked reports whether prepared launches wait to be sent.
func (p *Pad) isDepartingLocked() bool {
	return len(p.boarded)+len(p.stalled)+len(p.found) > 0 && !p.held
}

// departLocked moves prepared launches to ready, as far as ready has room for them. What finds no room stays where it
// is, and the tick continues with it: see isDepartingLocked. The order is a promise: those with a place were admitted
// first, those that wait for a turn were due before those that still seek their lane.
func (p *Pad) departLocked(now instant.Millis, ready []*waiting) []*waiting {
	n := 0
	for ; n < len(p.boarded) && len(ready) < departuresMax; n++ {
		if w := p.boarded[n]; p.takeOffLocked(w, now) {
			ready = append(ready, w)
		}
	}
	p.boarded = cut(p.boarded, n)
	ready = p.unstallLocked(now, ready) // first, because launches that enter a lane next were due later than those that wait for a turn
	for n = 0; n < len(p.found) && len(ready) < departuresMax && !p.held; n++ {
		if ready = p.admitFoundLocked(p.found[n], now, departuresMax, ready); len(ready) == departuresMax {
			break // there may be more of this job
		}
	}
	p.found = cut(p.found, n)
	return ready
}

// takeOffLocked reports whether a launch that has its place leaves. If not, its place is free again. It checks
// everything again that may have changed while the delivery was being read: the launch may be withdrawn, the pad held,
// or the clock set back.
func (p *Pad) takeOffLocked(w *waiting, now instant.Millis) bool {
	leaves := false
	if !w.gone && !p.held && !p.isEarlyLocked(w, now) {
		if w.isTooLate(now) {
			w.failure = tooLate
		}
		leaves = p.admitLocked(w, now)
	}
	w.placed = false
	w.lane.reading--
	p.tidyLocked(w.lane)
	if !leaves || w.failure != "" {
		p.unused = append(p.unused, place{lane: w.lane.key, weight: w.weight})
	}
	return leaves
}

// sendAll passes launches to the sender, and releases the unused places. The caller must hold sending. A launch that
// has a failure does not reach the sender. Its outcome is an attempt that failed, so that the job's retry policy
// applies to a row that could not be read.
func (p *Pad) sendAll(ready []*waiting) {
	for _, u := range p.unused {
		p.sender.Release(u.lane, u.weight)
	}
	p.unused = p.unused[:0]
	for i, w := range ready {
		ready[i] = nil
		if w.failure != "" {
			p.done(job.Outcome{Run: w.Run, Attempt: w.Attempt, Error: w.failure})
			continue
		}
		w.delivery.Gate = &p.gate
		p.sender.Launch(w.delivery, p.done)
	}
}

// Close ends all sending, and releases the places of launches that have not left, and the alarm. Serve must have
// returned, so no feeder works on a launch. Close must be called once. The launches that are left are in the log: the
// next start, or the next leader, puts them on its own pad.
func (p *Pad) Close() error {
	p.endSending()
	return p.Disarm()
}

// endSending gives back every place that a launch has reserved and not used. The sender outlives the pad, so a place
// that is not given back here would be lost to its target until the process ends.
func (p *Pad) endSending() {
	p.Hold()
	p.sending.Lock()
	defer p.sending.Unlock()
	p.mu.Lock()
	for _, f := range p.feeds {
		for w, ok := f.wanted.Pop(); ok; w, ok = f.wanted.Pop() {
			if w.placed {
				p.boarded = append(p.boarded, w)
			}
		}
	}
	p.departLocked(0, nil)
	p.mu.Unlock()
	p.sendAll(nil)
}

// cut removes the first n elements of a queue, and keeps its memory.
func cut[T any](queue []T, n int) []T {
	rest := copy(queue, queue[n:])
	clear(queue[rest:])
	return queue[:rest]
}
