package core

import (
	"maps"
	"math"
	"slices"

	"github.com/carillon-io/carillon/fair"
	"github.com/carillon-io/carillon/job"
)

// A notice names its run only. Where it goes, and what a dead letter contains, the announcer reads from the definition of
// the job when it publishes. So the definition of a deleted job stays in the store, in a row of its own kind, until the
// outbox has no notice of the job and no run of it is live any more.

const (
	// deletedBytesMax bounds the definitions of deleted jobs that are kept, in bytes: NATS may refuse notices for days,
	// while jobs come and go. Beyond it the notices of deleted jobs are lost, and counted.
	deletedBytesMax = 1 << 30
	// deletedMax bounds their number, as EventsMaxDefault that of the notices. Each takes about 80 bytes of memory.
	deletedMax = EventsMaxDefault
	// deletedDrops is how many of them one proposal drops at most. More than notices in a batch, so that they cannot
	// become more and more while notices are published all the time.
	deletedDrops = 1024
)

// deletedJobs are the deleted jobs whose definitions are kept.
//
// Invariant: while the core leads, each job without live runs has an entry in the line with its until. A follower has no
// line, because it does not decide what is dropped.
type deletedJobs struct {
	byID  map[job.ID]deletedJob
	line  fair.FIFO[deletedEntry] // in ascending order of until
	bytes int
}

// deletedJob is what is known of a deleted job.
type deletedJob struct {
	bytes int32  // of its row
	live  int32  // its runs that are not over; their ends will make notices
	until uint64 // no notice of it has a greater LSN
}

// deletedEntry is an entry of the line. It is void if the job has another until, or live runs.
type deletedEntry struct {
	id    job.ID
	until uint64
}

func (d *deletedJobs) add(id job.ID, kept deletedJob) {
	if d.byID == nil {
		d.byID = make(map[job.ID]deletedJob)
	}
	d.byID[id] = kept
	d.bytes += int(kept.bytes)
	if kept.live == 0 && kept.until > 0 {
		d.line.Push(deletedEntry{id, kept.until})
	}
}

func (d *deletedJobs) remove(id job.ID) {
	d.bytes -= int(d.byID[id].bytes)
	delete(d.byID, id)
}

// keepDeleted keeps the definition of a job that is being deleted, if notices of it may wait, or are to come because
// some of its runs are live. A record that is empty cannot be kept: a node of the cluster does not read such rows.
func (c *Core) keepDeleted(id job.ID, record []byte, live int) {
	d := &c.deleted
	switch {
	case len(record) == 0, !c.settings.DeadLetters && !c.settings.Events, c.outbox == 0 && live == 0:
		return
	case len(d.byID) >= deletedMax, d.bytes+len(record) > deletedBytesMax:
		return
	}
	c.out.Batch.PutDeleted(id, record)
	d.add(id, deletedJob{bytes: int32(len(record)), live: int32(live), until: c.lsn})
}

// isOverDeleted notes the end of a run whose job is deleted. Its notice has the LSN of this commit.
func (c *Core) isOverDeleted(id job.ID) {
	kept, ok := c.deleted.byID[id]
	if !ok {
		return
	}
	kept.live, kept.until = max(0, kept.live-1), c.lsn
	c.deleted.byID[id] = kept
	if kept.live == 0 {
		c.deleted.line.Push(deletedEntry{id, kept.until})
	}
	if c.outbox == 0 && c.deleted.mayDrop(math.MaxUint64) { // no notice will be published that could end the wait
		c.dropNextDeleted()
	}
}

// dropDeleted deletes the definitions of the deleted jobs that have no notice at or after an LSN, at most deletedDrops of
// them, each in a unit of its own.
func (c *Core) dropDeleted(from uint64) {
	for n := 0; n < deletedDrops && c.deleted.mayDrop(from); n++ {
		c.unit(noticeKeyBytes)
		c.dropNextDeleted()
	}
}

// mayDrop reports whether the job that is first in the line has no notice at or after an LSN.
func (d *deletedJobs) mayDrop(from uint64) bool {
	return d.line.Len() > 0 && d.line.Front().until < from
}

// dropNextDeleted takes the first entry off the line and, unless it is void, deletes the definition of its job.
func (c *Core) dropNextDeleted() {
	e := c.deleted.line.Pop()
	if kept, ok := c.deleted.byID[e.id]; ok && kept.live == 0 && kept.until == e.until {
		c.out.Batch.DeleteJobRow(job.KindDeleted, e.id)
		c.deleted.remove(e.id)
	}
}

// takeDeleted adds the row of a deleted job from the store.
func (c *Core) takeDeleted(key, value []byte) error {
	id, err := job.ParseJobKey(key)
	if err == nil {
		c.deleted.add(id, deletedJob{bytes: int32(len(value) - 1)})
	}
	return err
}

// lineUpDeleted makes the line of a new leader. A row does not say since when its job is deleted, so all of them wait for
// the whole outbox as it is now.
func (c *Core) lineUpDeleted() {
	d := &c.deleted
	if len(d.byID) == 0 {
		return
	}
	for id, kept := range d.byID {
		kept.live, kept.until = 0, c.lsn
		d.byID[id] = kept
	}
	for run := range c.live {
		if kept, ok := d.byID[run.Job]; ok {
			kept.live++
			d.byID[run.Job] = kept
		}
	}
	d.line = fair.FIFO[deletedEntry]{}
	for _, id := range slices.Sorted(maps.Keys(d.byID)) {
		if d.byID[id].live == 0 {
			d.line.Push(deletedEntry{id, c.lsn})
		}
	}
}
