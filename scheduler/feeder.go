package scheduler

import (
	"container/heap"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/carillon-io/carillon/instant"
	"github.com/carillon-io/carillon/job"
)

// feeder reads the cold rows of the launches on a pad, ahead of their time, so that neither the loop nor the tick
// waits for the store.
type feeder struct {
	pad    *pad
	store  Store
	clock  Clock
	number int // index of its feed
	keys   []byte
}

// feedChunk is how many launches are read at a time, before the feeder checks the pad again.
const feedChunk = 128

// run reads until ctx ends.
func (f *feeder) run(ctx context.Context) {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	var chunk []*waiting
	wake := f.pad.feeds[f.number].wake
	for ctx.Err() == nil {
		var wait time.Duration
		chunk, wait = f.pad.feedChunk(f.number, instant.Of(f.clock.Now()), chunk[:0])
		if len(chunk) > 0 {
			f.readAll(chunk)
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

// unreadChunk is feedChunk over all feeds, for a single caller that does the work of every feeder.
func (p *pad) unreadChunk(now instant.Millis, chunk []*waiting) (_ []*waiting, wait time.Duration) {
	for n := range p.feeds {
		chunk, wait = p.feedChunk(n, now, chunk)
	}
	return chunk, wait
}

// feedChunk prepares launches whose time has come close. It returns some launches of a feed whose cold rows are to be
// read, or else how long there will be none.
func (p *pad) feedChunk(n int, now instant.Millis, chunk []*waiting) (_ []*waiting, wait time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	first := p.nextDueLocked()
	for len(p.later) > 0 && p.later[0].Due <= now+p.horizon {
		p.soonLocked(heap.Pop(&p.later).(*waiting))
	}
	if p.nextDueLocked() != first {
		p.wake()
	}
	chunk = p.takeLocked(p.feeds[n], chunk)
	const longest = time.Hour
	if len(p.later) == 0 {
		return chunk, longest
	}
	return chunk, min(idleMax, max(time.Millisecond, (p.later[0].Due-p.horizon).Sub(now)))
}

func (f *feeder) readAll(chunk []*waiting) {
	for i, w := range chunk {
		chunk[i] = nil
		launch, delivery := f.pad.toRead(w)
		var err error
		if delivery == nil {
			delivery, err = f.read(launch)
		}
		f.pad.ready(w, delivery, err, instant.Of(f.clock.Now()))
	}
}

// toRead returns what a feeder needs of a launch that it works on, and the delivery if it was read before. The launch
// may get its turn, or lose its delivery, meanwhile.
func (p *pad) toRead(w *waiting) (Launch, *job.Delivery) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return w.Launch, w.delivery
}

// read builds the delivery of a launch. A nil delivery without an error means that the job is deleted.
func (f *feeder) read(l Launch) (*job.Delivery, error) {
	f.keys = job.AppendJobKey(f.keys[:0], job.KindJob, l.Run.Job)
	value, ok, err := f.store.Get(f.keys)
	if err != nil || !ok {
		return nil, err
	}
	rec, err := job.DecodeRecord(l.Run.Job, value)
	if err != nil {
		return nil, err
	}
	d := &job.Delivery{
		Run: l.Run, Tenant: rec.Def.Tenant, Name: rec.Def.Name, Target: rec.Def.Target,
		Payload: rec.Def.Payload, PayloadJSON: rec.Def.PayloadJSON, Headers: rec.Def.Headers,
		Attempt: l.Attempt, Fence: l.Fence, Timeout: rec.Def.AttemptTimeout,
		Origin: rec.Origin,
	}
	if l.HasPayload {
		d.Payload, d.PayloadJSON, err = readPayload(f.store, l.Run)
	}
	return d, err
}

// errNoPayload is wrapped by the error of readPayload if the row is missing.
var errNoPayload = errors.New("is missing")

// readPayload reads the payload of a manual run that has its own.
func readPayload(store Store, run job.RunID) (payload []byte, isJSON bool, err error) {
	for _, key := range [][]byte{job.AppendPayloadKey(nil, run), job.AppendOldPayloadKey(nil, run)} {
		value, ok, err := store.Get(key)
		if err != nil {
			return nil, false, err
		}
		if ok {
			return job.DecodePayload(value)
		}
	}
	return nil, false, fmt.Errorf("payload of run %s %w", run, errNoPayload)
}
