package pad

import (
	"slices"

	"github.com/carillon-io/carillon/fair"
	"github.com/carillon-io/carillon/job"
)

// aheadBytesMax bounds the bytes of the deliveries that wait on a pad. A delivery beyond it is read when its launch is
// to leave. It is what a burst of large payloads can cost in memory. A smaller bound makes more launches wait for a
// read when they are due. A feeder checks it before it reads, so chunks in progress may exceed it until ready drops
// them again.
const aheadBytesMax = 256 << 20

// deliveryBytes approximates the size of a delivery without its payload and its headers. It keeps deliveries without a
// payload from counting as nothing.
const deliveryBytes = 512

// feed is the work of one feeder. All launches of a job are in the same feed, so that one goroutine reads them, one
// after the other, in the order in which they are to leave. Pad.mu guards the queues. In both of them tenants take
// turns: a herd of one tenant delays the reads of the others by a few at most.
//
// Entries of unread can be void, because a launch that leaves or is asked for stays in the queue; takeLocked skips
// them.
type feed struct {
	// wanted are launches that may leave as soon as their cold rows are read. They come first, whatever the bound of
	// memory says, because each of them is due.
	wanted fair.Queue[Tenant, *waiting]
	// unread are launches that wait for their time and lack their cold rows.
	unread fair.Queue[Tenant, *waiting]
	// wake wakes the feeder. Its capacity is 1, so a signal that is sent while the feeder works is kept.
	wake chan struct{}
}

func newFeeds(n int) []*feed {
	feeds := make([]*feed, n)
	for i := range feeds {
		feeds[i] = &feed{
			wanted: fair.NewQueue[Tenant, *waiting](launchQuantum),
			unread: fair.NewQueue[Tenant, *waiting](launchQuantum),
			wake:   make(chan struct{}, 1),
		}
	}
	return feeds
}

// setFeeds sets the number of feeders. It must be called before the first feeder starts. The launches that came before
// are distributed anew; until then they are all in the one feed of [New].
func (p *Pad) setFeeds(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	old := p.feeds
	p.feeds = newFeeds(n)
	for _, f := range old {
		for w, ok := f.wanted.Pop(); ok; w, ok = f.wanted.Pop() {
			p.feedOf(w).wanted.Push(w.Tenant, w)
		}
		for w, ok := f.unread.Pop(); ok; w, ok = f.unread.Pop() {
			p.feedOf(w).unread.Push(w.Tenant, w)
		}
	}
	p.rouseLocked()
}

// feedOf returns the feed of a launch. It depends on the job alone, and that is what keeps a job's launches in order.
func (p *Pad) feedOf(w *waiting) *feed { return p.feeds[uint64(w.Run.Job)%uint64(len(p.feeds))] }

// rouseLocked wakes the feeders.
func (p *Pad) rouseLocked() {
	for _, f := range p.feeds {
		signal(f.wake)
	}
}

// wantLocked asks for the cold row of a launch that may leave as soon as it is read. A launch that a feeder already
// works on needs no request.
func (p *Pad) wantLocked(w *waiting) {
	if w.reading {
		return
	}
	f := p.feedOf(w)
	f.wanted.Push(w.Tenant, w)
	signal(f.wake)
}

// takeLocked removes launches whose cold rows are to be read from a feed: first those that may leave then, and as
// many ahead of their time as there is room for.
func (p *Pad) takeLocked(f *feed, chunk []*waiting) []*waiting {
	for len(chunk) < feedChunk {
		w, ok := f.wanted.Pop()
		if ok && w.gone && !w.placed {
			continue
		}
		if !ok && p.ahead < aheadBytesMax {
			if w, ok = f.unread.Pop(); ok && (w.spot != atSoon || w.lane != nil || w.failure != "" || p.isInLineLocked(w)) {
				continue // it was requested meanwhile, is gone, or will wait in any case
			}
		}
		if !ok {
			break
		}
		w.reading = true
		chunk = append(chunk, w)
	}
	return chunk
}

// loadLocked attaches the delivery that was read to its launch. A row that cannot be read is an error of the attempt,
// not of the pad: the other launches continue.
func (p *Pad) loadLocked(w *waiting, d *job.Delivery, err error) {
	switch {
	case err != nil:
		w.failure = "read the job: " + err.Error()
	case d == nil:
		w.failure = "the job was deleted"
	default:
		if isShared := w.older != nil || w.newer != nil; isShared && !w.HasPayload {
			p.templates.keep(d)
		}
		p.attachLocked(w, d)
	}
}

// attachLocked gives a launch its delivery, which may be a template already: what is set here is read with the mutex alone.
func (p *Pad) attachLocked(w *waiting, d *job.Delivery) {
	p.unloadLocked(w)
	d.Awaited = w.Mode != ModeFree
	w.delivery, w.cost = d, deliveryCost(d)
	p.ahead += w.cost
	p.enterLaneLocked(w)
}

// unloadLocked drops the delivery of a launch. It is read again when the launch is to leave.
func (p *Pad) unloadLocked(w *waiting) {
	p.uncountLocked(w)
	w.delivery = nil
}

// spareLocked drops the delivery of a launch that may wait for long, unless there is much room: launches ahead of
// their time need the memory more.
func (p *Pad) spareLocked(w *waiting) {
	if p.ahead > aheadBytesMax/2 {
		p.unloadLocked(w)
	}
}

// wants reports whether a launch waits for a feeder and may leave once its row is read.
func (p *Pad) wants() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.ContainsFunc(p.feeds, func(f *feed) bool { return f.wanted.Len() > 0 })
}

// uncountLocked subtracts the delivery of a launch from the bytes that wait.
func (p *Pad) uncountLocked(w *waiting) {
	wasFull := p.ahead >= aheadBytesMax
	p.ahead -= w.cost
	w.cost = 0
	if wasFull && p.ahead < aheadBytesMax {
		p.rouseLocked()
	}
}
