package core

import (
	"github.com/carillon-io/carillon/instant"
	"github.com/carillon-io/carillon/job"
)

// Epoch is the beginning of a leadership, as a core prepares it: a commit that nothing may precede in the epoch. The
// beginning is a commit, and not a note in memory, because its LSN is above every fence that was given out before.
type Epoch struct {
	Number uint64
	Batch  job.Batch // to be made durable and visible, and then passed to Lead

	nextID  job.ID // as numbering.next
	counted bool   // the sums of the tenants' bytes are valid
	zones   zoneChange
}

// NextEpoch prepares the epoch after the newest one that the core knows. It changes nothing. In an empty store, ids of
// jobs begin at what firstID returns. It is separate from Lead because the commit may fail: the core then still
// follows, and may try again later.
func (c *Core) NextEpoch(shard uint32, firstID func() (job.ID, error)) (*Epoch, error) {
	e := &Epoch{Number: c.epoch + 1, nextID: c.numbers.next, zones: c.zoneChange()}
	if e.nextID == 1 {
		var err error
		if e.nextID, err = firstID(); err != nil {
			return nil, err
		}
	}
	e.Batch.PutMeta(MetaEpoch, e.Number)
	e.Batch.PutMeta(MetaNextID, uint64(e.nextID))
	e.Batch.PutMeta(metaShard, uint64(shard))
	if e.counted = c.tenants.isCounted(c.epoch); e.counted {
		e.Batch.PutMeta(metaCounted, e.Number)
	}
	e.zones.write(&e.Batch, &c.zones)
	return e, nil
}

// Lead makes a loaded core, which may have followed another leader, the leader of an epoch that is durable; lsn and
// now are those of its commit. Its cost depends on the live runs, the debts and the streaks; it reads no other job.
func (c *Core) Lead(e *Epoch, lsn uint64, now instant.Millis) Takeover {
	c.numbers.next = e.nextID
	if e.counted {
		c.tenants.count.epoch = e.Number
	}
	c.tenants.beginCount(e.counted)
	c.takeZoneChange(&e.zones)
	t := c.lead(e.Number, lsn, now)
	c.out.Uses = c.tenants.settle(c.out.Uses[:0])
	t.Replan = c.replanning
	t.Zones, t.ZonesFrom, t.ZonesTo = e.zones.changed, versionText(e.zones.from), versionText(e.zones.to)
	return t
}

// NumberJobs makes the ids of the jobs in an empty store begin at first or, if they carry slots, shortly after it. The
// batch must be applied before a core is loaded. It is for simulations: otherwise the first id is random, and two runs of
// one simulation would differ.
func NumberJobs(b *job.Batch, first job.ID) { b.PutMeta(MetaNextID, uint64(first)) }
