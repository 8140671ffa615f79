package core

import (
	"github.com/carillon-io/carillon/apierr"
	"github.com/carillon-io/carillon/job"
)

// numbering gives out the ids of jobs. A store that an earlier release made has dense ids first: each is one more than
// the one before. From an id on, which the store records, ids are a counter and the slot of the job's name.
//
// Invariant: no job has the id next or a later one. So every new id is greater than every earlier one, also where ids
// begin to carry slots.
type numbering struct {
	next job.ID
	// slotsFrom is the first id that may carry a slot, and has slot 0; 0 means that no id carries one yet. It is set
	// once in the life of a store.
	slotsFrom job.ID
}

// counterEnd is the first counter that is not given out. It leaves room for the id after the last one, and for the
// first one that carries a slot.
const counterEnd = job.CounterMax - 1

// hasSlot reports whether an id carries the slot of its job's name.
func (n *numbering) hasSlot(id job.ID) bool { return n.slotsFrom != 0 && id >= n.slotsFrom }

// ordinal returns a number that is one more for each new job. The ordinals of ids with slots and of those without may
// be the same numbers.
func (n *numbering) ordinal(id job.ID) uint64 {
	if n.hasSlot(id) {
		return id.Counter()
	}
	return uint64(id)
}

// beginSlots makes the ids carry slots from the first counter on whose ids are all greater than those given out.
func (n *numbering) beginSlots() {
	n.slotsFrom = job.NewID(n.next.Counter()+1, 0)
	n.next = n.slotsFrom
}

// isUsedUp reports whether no id is left.
func (n *numbering) isUsedUp() bool { return n.next.Counter() >= counterEnd }

// take gives out the next id.
func (n *numbering) take(slot job.Slot) job.ID {
	if n.slotsFrom == 0 {
		id := n.next
		n.next++
		return id
	}
	id := job.NewID(n.next.Counter(), slot)
	n.next = job.NewID(id.Counter()+1, 0)
	return id
}

// errIDsUsedUp refuses a new job when no id is left. Jobs that exist are not affected.
var errIDsUsedUp = apierr.Errorf(apierr.QuotaExceeded, "", "all job ids of this installation are used, so it accepts no new job; "+
	"its jobs go on and can be changed. To register more, import an export of them into a new installation")

// newID returns the id of a new job. If this is the first one that may carry a slot, the commit records that, as a
// unit before the one of the job.
func (c *Core) newID(p *Put) (job.ID, error) {
	if c.numbers.isUsedUp() {
		return 0, errIDsUsedUp
	}
	if p.MaySlot && c.numbers.slotsFrom == 0 {
		c.numbers.beginSlots()
		c.unit(metaBytes)
		c.out.Batch.PutSlotsFrom(c.numbers.slotsFrom)
		c.unit(p.Bytes())
	}
	return c.numbers.take(p.Slot), nil
}
