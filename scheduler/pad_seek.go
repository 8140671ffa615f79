package scheduler

import (
	"container/heap"

	"github.com/carillon-io/carillon/job"
)

// seeksLocked tells whether a launch that is due must wait for its cold row before it gets in line, and has a feeder
// read it then. That is so if its lane is not known, if a feeder has it in hand already, and behind others of its job
// that wait for theirs: it would overtake them.
func (p *pad) seeksLocked(w *waiting) bool {
	if len(p.seekers[w.Run.Job]) == 0 && !w.reading && (w.lane != nil || w.failure != "" || p.enterKnownLocked(w)) {
		return false
	}
	p.seekLocked(w)
	return true
}

func (p *pad) seekLocked(w *waiting) {
	queue := p.seekers[w.Run.Job]
	w.spot, w.found = atSeek, false
	heap.Push(&queue, w)
	p.seekers[w.Run.Job] = queue
	p.wantLocked(w)
}

// foundLocked notes that the cold row of a launch is read that waits for it.
func (p *pad) foundLocked(w *waiting) {
	w.found = true
	p.found = append(p.found, w.Run.Job)
}

// unseekLocked takes a launch out that waits for its cold row.
func (p *pad) unseekLocked(w *waiting) {
	queue := p.seekers[w.Run.Job]
	heap.Remove(&queue, w.index)
	w.spot = atNone
	if len(queue) == 0 {
		delete(p.seekers, w.Run.Job)
		return
	}
	p.seekers[w.Run.Job] = queue
}

// seekOnLocked lets the tick look whether the first of those may get in line that wait for the cold rows of a job,
// after one was taken out.
func (p *pad) seekOnLocked(id job.ID) {
	if len(p.seekers[id]) > 0 {
		p.found = append(p.found, id)
		p.wake()
	}
}

// admitFoundLocked lets the first of those get in line that wait for the cold rows of a job, as far as their rows are
// read. It appends those that leave to ready.
func (p *pad) admitFoundLocked(id job.ID, now job.Millis, most int, ready []*waiting) []*waiting {
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
