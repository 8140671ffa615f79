package core

import (
	"fmt"
	"slices"

	"github.com/carillon-io/carillon/job"
)

// renumbering gives the jobs of a division ids that carry slots. An id that carries its slot stays. Any other job gets a
// counter that was never given out, in the order of the old ids; so it counts as newer than the jobs that keep theirs.
type renumbering struct {
	numbers numbering
	first   job.ID            // the first id that it gives out
	byOld   map[job.ID]job.ID // ids without slots
	list    []Renumbered
}

func newRenumbering(next, slotsFrom job.ID) renumbering {
	r := renumbering{numbers: numbering{next: next, slotsFrom: slotsFrom}, byOld: make(map[job.ID]job.ID)}
	if slotsFrom == 0 {
		r.numbers.beginSlots()
	}
	r.first = r.numbers.next
	return r
}

// isOld reports whether an id carries no slot.
func (r *renumbering) isOld(id job.ID) bool { return id < r.numbers.slotsFrom }

// of returns the id of a job in its shard. A deleted job whose name is not known gets the slot 0.
func (r *renumbering) of(old job.ID) job.ID {
	if !r.isOld(old) {
		return old
	}
	if _, known := r.byOld[old]; !known {
		r.add(Renumbered{Old: old}, 0)
	}
	return r.byOld[old]
}

// name gives a job a new id, by its name, unless it has one.
func (r *renumbering) name(old job.ID, tenant, name string) {
	if _, known := r.byOld[old]; r.isOld(old) && !known {
		r.add(Renumbered{Old: old, Tenant: tenant, Name: name}, job.SlotOf(tenant, name))
	}
}

func (r *renumbering) add(j Renumbered, slot job.Slot) {
	j.New = r.numbers.take(slot)
	r.byOld[j.Old] = j.New
	r.list = append(r.list, j)
}

// ofRun returns the id of a run in its shard.
func (r *renumbering) ofRun(old job.RunID) job.RunID {
	old.Job = r.of(old.Job)
	return old
}

// sorted returns what was renumbered, by the old ids.
func (r *renumbering) sorted() []Renumbered {
	slices.SortFunc(r.list, byOldID)
	return r.list
}

func byOldID(a, b Renumbered) int {
	switch {
	case a.Old < b.Old:
		return -1
	case a.Old > b.Old:
		return 1
	}
	return 0
}

// renumber gives out all ids that depend on names: first those of the jobs, and then those of deleted jobs whose names
// the audit log has, or whose definitions are kept.
func (d *divider) renumber() error {
	d.ids = newRenumbering(job.ID(d.meta[MetaNextID]), job.ID(d.meta[job.MetaSlotsFrom]))
	var old []Renumbered
	err := d.scan(job.KindName, func(key, value []byte) error {
		tenant, name, err := job.ParseNameKey(key)
		if err != nil {
			return err
		}
		id, err := job.DecodeName(value)
		switch {
		case err != nil:
			return err
		case d.ids.isOld(id):
			old = append(old, Renumbered{Old: id, Tenant: tenant, Name: name})
		case id.Slot() != job.SlotOf(tenant, name):
			return fmt.Errorf("the id %s of %s of %s has the slot %d, want %d", id, name, tenant, id.Slot(), job.SlotOf(tenant, name))
		case id >= job.ID(d.meta[MetaNextID]):
			return fmt.Errorf("the id %s of %s of %s was not given out yet", id, name, tenant)
		}
		return nil
	})
	d.names = d.rows[job.KindName]
	slices.SortFunc(old, byOldID)
	for _, j := range old {
		d.ids.name(j.Old, j.Tenant, j.Name)
	}
	if err != nil {
		return err
	}
	err = scanKind(d.from, job.KindDeleted, func(key, value []byte) error {
		id, err := job.ParseJobKey(key)
		if err != nil {
			return err
		}
		rec, err := job.DecodeDeleted(id, value)
		if err == nil {
			d.ids.name(id, rec.Def.Tenant, rec.Def.Name)
		}
		return err
	})
	if err != nil {
		return err
	}
	return scanKind(d.from, job.KindAudit, func(key, value []byte) error {
		_, id, err := job.ParseAuditKey(key)
		if err != nil {
			return err
		}
		e, err := job.DecodeAudit(id, value)
		if err == nil && e.Job != 0 {
			d.ids.name(e.Job, e.Tenant, e.Name)
		}
		return err
	})
}
