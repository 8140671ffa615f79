package scheduler

// modelDeletions is what is known of deleted jobs. Their notices are published like any others, once a node of the
// cluster that does not read the rows for that cannot be there any more: since a leader has written the first one.
type modelDeletions struct {
	at    map[uint64]int64  // when a job was deleted
	kept  map[uint64]bool   // jobs whose definitions are in the store
	first int64             // when the first definition was kept; 0: none was
	since uint64            // the commit of that
	lsn   map[uint64]uint64 // commits of the deletions
}

// modelKeepsSoon is how long after the first such row a deletion may still have been prepared without one.
const modelKeepsSoon = 10_000

func newModelDeletions() modelDeletions {
	return modelDeletions{at: make(map[uint64]int64), kept: make(map[uint64]bool), lsn: make(map[uint64]uint64)}
}

// takeDeleted records that the definition of a deleted job is kept, or is not any more.
func (m *model) takeDeleted(r *modelRow) {
	d, id := &m.deletions, r.key.job
	if r.kind == rowDeleted {
		d.kept[id] = true
		if d.first == 0 {
			d.first, d.since = m.now, m.lsn
		}
		return
	}
	if !d.kept[id] {
		m.fail("kept", m.jobs[id], "the definition of job %d is dropped, and was not kept", id&0xfffff)
	}
	delete(d.kept, id)
	if j := m.jobs[id]; j != nil && len(j.live) > 0 {
		m.fail("kept", j, "run %s is live, and the definition of its job is dropped", j.live[0].key)
	}
	for at, n := range m.outbox {
		if n.job == id {
			m.fail("kept", m.jobs[id], "notice %d-%d waits, and the definition of its job is dropped", at[0], at[1])
		}
	}
}

// mayLose reports whether the notices of a job may be dropped before they are published.
func (m *model) mayLose(id uint64) bool {
	at, gone := m.deletions.at[id]
	d := &m.deletions
	return gone && !d.kept[id] && (d.first == 0 || at <= d.first+modelKeepsSoon || d.lsn[id] <= d.since) // the clock may have been set back between them
}

// checkDeletions checks that nothing is kept for notices when none wait and none are to come.
func (m *model) checkDeletions() {
	for id := range m.deletions.kept {
		if j := m.jobs[id]; len(m.outbox) == 0 && (j == nil || len(j.live) == 0) {
			m.fail("kept", j, "the definition of the deleted job %d is still there, and no notice waits", id&0xfffff)
		}
	}
}
