package pad

import (
	"github.com/carillon-io/carillon/instant"
	"github.com/carillon-io/carillon/job"
)

// seeksLocked reports whether a due launch must wait for its cold row before it can enter its lane, and then has a
// feeder read that row. This is so if its lane is unknown, if a feeder already works on it, or if earlier launches of
// its job wait for their rows: it would overtake them.
func (p *Pad) seeksLocked(w *waiting) bool {
	if len(p.seekers[w.Run.Job]) == 0 && !w.reading && (w.lane != nil || w.failure != "" || p.enterKnownLocked(w)) {
		return false
	}
	p.seekLocked(w)
	return true
}

// seekLocked makes a due launch wait in the queue of its job until its row is read. The queue is ordered by due time,
// so a row that is read early does not let its launch pass an earlier one: see admitFoundLocked.
func (p *Pad) seekLocked(w *waiting) {
	queue := p.seekers[w.Run.Job]
	w.spot, w.found = atSeek, false
	queue.Push(w)
	p.seekers[w.Run.Job] = queue
	p.wantLocked(w)
}

// foundLocked records that the cold row of a seeking launch is read.
func (p *Pad) foundLocked(w *waiting) {
	w.found = true
	p.found = append(p.found, w.Run.Job)
}

// unseekLocked removes a launch that waits for its cold row.
func (p *Pad) unseekLocked(w *waiting) {
	queue := p.seekers[w.Run.Job]
	queue.Remove(w.index)
	w.spot = atNone
	if len(queue) == 0 {
		delete(p.seekers, w.Run.Job)
		return
	}
	p.seekers[w.Run.Job] = queue
}

// seekOnLocked makes the tick check whether the first seeking launch of a job may now enter its lane, after another
// one was removed.
func (p *Pad) seekOnLocked(id job.ID) {
	if len(p.seekers[id]) > 0 {
		p.found = append(p.found, id)
		p.wake(instant.LongAgo)
	}
}

// admitFoundLocked lets the seeking launches of a job enter their lanes, in order, up to the first whose row is not
// read. It appends those that leave at once to ready.
func (p *Pad) admitFoundLocked(id job.ID, now instant.Millis, most int, ready []*waiting) []*waiting {
	for len(ready) < most {
		queue := p.seekers[id]
		if len(queue) == 0 || !queue[0].found {
			break
		}
		w := queue[0]
		p.unseekLocked(w)
		if !p.isEarlyLocked(w, now) && p.admitLocked(w, now) {
			ready = append(ready, w)
		}
	}
	return ready
}
