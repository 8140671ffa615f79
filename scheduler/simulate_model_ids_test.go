package scheduler

import (
	"crypto/sha256"
	"slices"
)

// modelIDs is what the model knows of the ids of jobs. Ids of an installation that an earlier release made count by
// ones. Once all nodes can read them, ids are a counter and, in the lower eight bits, the slot of the job's name; the
// log says from which id on. Each new id is greater than all before it.
type modelIDs struct {
	may       bool   // all nodes can read ids with slots, so the next job must have one
	next      uint64 // id that no job has reached, as the log has it; 0: it has not said so yet
	slotsFrom uint64 // first id that may carry a slot, as the log has it; 0: none
	last      uint64 // of the newest job
}

// modelSlot returns the slot of a name.
func modelSlot(tenant, name string) uint64 {
	return uint64(sha256.Sum256([]byte(tenant + "\x00" + name))[0])
}

// takeSlotsFrom takes in from which id on ids carry slots.
func (m *model) takeSlotsFrom(from uint64) {
	ids := &m.ids
	switch {
	case ids.slotsFrom != 0:
		m.fail("ids", nil, "slots begin at id %d, and have begun at %d already", from, ids.slotsFrom)
	case !slices.ContainsFunc(m.asked, func(a *modelAct) bool { return a.maySlot && a.kind == "put" }):
		m.fail("ids", nil, "slots begin at id %d, which not every node can read", from)
	case from%256 != 0 || from <= ids.last || from < ids.next:
		m.fail("ids", nil, "slots begin at id %d; want slot 0, after %d and not before %d", from, ids.last, ids.next)
	}
	ids.slotsFrom = from
}

// checkID checks the id of a new job.
func (m *model) checkID(j *modelJob, act *modelAct) {
	ids, slot := &m.ids, modelSlot(simTenant(j.name), j.name)
	switch {
	case j.id <= ids.last:
		m.fail("ids", j, "id %d comes after %d", j.id, ids.last)
	case ids.slotsFrom == 0 && act.maySlot:
		m.fail("ids", j, "id %d carries no slot, though every node can read it", j.id)
	case ids.slotsFrom == 0 && ids.last != 0 && j.id != ids.last+1:
		m.fail("ids", j, "id %d comes after %d, want the next one", j.id, ids.last)
	case ids.slotsFrom != 0 && (j.id < ids.slotsFrom || j.id%256 != slot):
		m.fail("ids", j, "id %d has slot %d, want slot %d, and at least %d", j.id, j.id%256, slot, ids.slotsFrom)
	}
	ids.last = j.id
}

// checkNextID checks that no id can be given out once more.
func (m *model) checkNextID() {
	if n := len(m.order); n > 0 && m.ids.next != 0 && m.order[n-1].id >= m.ids.next {
		m.fail("loaded", m.order[n-1], "id %d is given out, and after a crash it would be once more: the log has %d as the next", m.order[n-1].id, m.ids.next)
	}
}
