package pad

import (
	"context"
	"sync"
	"time"

	"github.com/carillon-io/carillon/instant"
	"github.com/carillon-io/carillon/job"
)

// feeder reads the cold rows of the launches on a pad, ahead of their time, so that neither the loop nor the tick
// waits for the store. A feeder that falls behind delays only launches whose rows are not read: they leave as soon as
// their row is there.
type feeder struct {
	pad    *Pad
	number int    // index of its feed
	keys   []byte // scratch
}

// feedChunk is how many launches are read at a time, before the feeder checks the pad again. A launch that becomes
// urgent meanwhile waits behind at most so many reads; a smaller chunk locks the pad more often.
const feedChunk = 128

// Serve lets a tick and some feeders work until ctx ends. The pad must be armed. It must be called at most once. It
// returns when the tick has let the pad go and all feeders have ended, so that Close may follow.
func (p *Pad) Serve(ctx context.Context, feeders int) {
	var workers sync.WaitGroup
	p.seat.serve()
	workers.Go(func() {
		<-ctx.Done()
		p.seat.leave()
	})
	p.setFeeds(feeders)
	for n := range feeders {
		workers.Go(func() { (&feeder{pad: p, number: n}).run(ctx) })
	}
	workers.Wait()
}

// run reads until ctx ends. It sleeps until there is work: a signal says that some came, the timer that a launch has
// come within the horizon.
func (f *feeder) run(ctx context.Context) {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	var chunk []*waiting
	wake := f.pad.feeds[f.number].wake
	for ctx.Err() == nil {
		var wait time.Duration
		chunk, wait = f.pad.feedChunk(f.number, instant.Of(f.pad.clock()), chunk[:0])
		if len(chunk) > 0 {
			f.readAll(chunk)
			continue
		}
		if wait == 0 {
			continue
		}
		timer.Reset(wait)
		select {
		case <-ctx.Done():
		case <-wake:
		case <-timer.C:
		}
	}
}

// feedChunk prepares launches whose time has come close. It returns some launches of a feed whose cold rows are to be
// read, or else how long there will be none. The first feeder moves launches from later to soon, whatever feed they belong
// to, so that the tick need not.
func (p *Pad) feedChunk(n int, now instant.Millis, chunk []*waiting) (_ []*waiting, wait time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	wait = time.Hour
	if n == 0 {
		wait = p.advanceLocked(now)
	}
	return p.takeLocked(p.feeds[n], chunk), wait
}

// advanceLocked moves launches from later to soon once the first of them is within the horizon, and then those of some time
// after it as well, so that the feeder need not wake for each. It moves at most advanceMost at a time, since the tick may wait for
// the lock. It returns how long to leave the others; 0 if there are more at once. That is bounded by IdleMax, because a timer
// does not notice that the wall clock was set.
func (p *Pad) advanceLocked(now instant.Millis) time.Duration {
	first := p.nextDueLocked()
	moved := 0
	if next := p.nextLaterLocked(); next != 0 && next <= now+horizon {
		for ; len(p.later) > 0 && p.later[0].Due <= now+horizon+advanceBy && moved < advanceMost; moved++ {
			p.soonLocked(p.later.Pop())
		}
	}
	if due := p.nextDueLocked(); due != first {
		p.wake(due)
	}
	switch next := p.nextLaterLocked(); {
	case next == 0:
		return time.Hour
	case moved == advanceMost:
		return 0
	default:
		return min(IdleMax, untilAdvance(now, next-horizon))
	}
}

const (
	// advanceBy is how many milliseconds of launches are moved ahead of the horizon.
	advanceBy instant.Millis = 50
	// advanceEvery is how many milliseconds are between two instants at which a feeder looks whether some are to be moved: so
	// much less than the horizon before its time is a launch moved at the latest.
	advanceEvery instant.Millis = 250
	// advanceMost is how many are moved under one lock, for which the tick may wait.
	advanceMost = 32
)

// untilAdvance returns the time until the first look of the feeders that is not before an instant, and is after now. All pads of a
// process look at the same instants, which wakes the process once for all of them; no whole second, at which most launches are due,
// is near one.
func untilAdvance(now, at instant.Millis) time.Duration {
	at = max(at, now+1)
	const offset = advanceEvery / 2
	return (at + advanceEvery - 1 - (at+advanceEvery-1-offset)%advanceEvery).Sub(now)
}

// nextLaterLocked returns when the first of the launches is due that are not prepared yet; 0 if there is none.
func (p *Pad) nextLaterLocked() instant.Millis {
	if len(p.later) == 0 {
		return 0
	}
	return p.later[0].Due
}

// readAll reads the rows of a chunk, and passes each launch on before it reads the next: the first ones need not wait
// for the whole chunk.
func (f *feeder) readAll(chunk []*waiting) {
	for i, w := range chunk {
		chunk[i] = nil
		launch, delivery := f.pad.toRead(w)
		var err error
		if delivery == nil {
			delivery, err = f.read(launch)
		}
		f.pad.ready(w, delivery, err, instant.Of(f.pad.clock()))
	}
}

// toRead returns what a feeder needs of a launch that it works on, and the delivery if the row was read before. The launch
// may get its turn, or lose its delivery, meanwhile.
func (p *Pad) toRead(w *waiting) (l Launch, d *job.Delivery) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if d = w.delivery; d == nil && !w.gone {
		d = p.templates.delivery(w.Launch)
	}
	return w.Launch, d
}

// read builds the delivery of a launch. A nil delivery without an error means that the job is deleted. The row is
// never older than the launch: a change of a job withdraws its launches from the pad, and they come back only after
// the change is in the store.
func (f *feeder) read(l Launch) (*job.Delivery, error) {
	f.keys = job.AppendJobKey(f.keys[:0], job.KindJob, l.Run.Job)
	value, ok, err := f.pad.rows.Get(f.keys)
	if err != nil || !ok {
		return nil, err
	}
	rec, err := job.DecodeRecord(l.Run.Job, value)
	if err != nil {
		return nil, err
	}
	d := &job.Delivery{
		Run: l.Run, Tenant: rec.Def.Tenant, Name: rec.Def.Name, Target: rec.Def.Target,
		Payload: rec.Def.Payload, PayloadJSON: rec.Def.PayloadJSON, Headers: rec.Def.Headers, SecretHeaders: rec.Def.SecretHeaders,
		Attempt: l.Attempt, Fence: l.Fence, Timeout: rec.Def.AttemptTimeout,
		Origin: rec.Origin,
	}
	if l.HasPayload {
		d.Payload, d.PayloadJSON, err = ReadPayload(f.pad.rows, l.Run)
	}
	return d, err
}
