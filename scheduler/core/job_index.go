package core

import "github.com/carillon-io/carillon/job"

// jobIndex finds the slot of a job by its id. A core that follows a leader needs it, because the leader's rows name
// jobs by id. Ids are a counter, so most of a page is in use, and the index takes about four bytes a job. The zero
// value must not be used: see newJobIndex. A map from id to slot would take several times as much. Ids that are near
// each other are often used together, so the page that was found last is remembered.
type jobIndex struct {
	pages map[uint64]*jobPage // by the upper bits of the ids
	key   uint64              // of the page that was found last
	page  *jobPage            // the page under key; nil: there is none
}

// jobPage holds the slots of a range of ids; 0 means no job.
type jobPage struct {
	slots [1 << jobPageBits]slot
	used  int
}

// jobPageBits is how many lower bits of an id give its place on a page. A page is thus 16 KiB. A larger one wastes
// more where jobs were deleted; a smaller one makes the map larger.
const jobPageBits = 12

// newJobIndex returns the index of the jobs of a table.
func newJobIndex(t *table) *jobIndex {
	x := &jobIndex{pages: make(map[uint64]*jobPage)}
	for s := slot(1); s < t.next; s++ {
		if id := t.row(s).id; id != 0 {
			x.add(id, s)
		}
	}
	return x
}

// find returns the slot of a job, or 0 if it is not in the index.
func (x *jobIndex) find(id job.ID) slot {
	p := x.pageOf(id)
	if p == nil {
		return 0
	}
	return p.slots[id%(1<<jobPageBits)]
}

// add records the slot of a job that is not in the index.
func (x *jobIndex) add(id job.ID, s slot) {
	p := x.pageOf(id)
	if p == nil {
		p = new(jobPage)
		x.key, x.page = uint64(id)>>jobPageBits, p
		x.pages[x.key] = p
	}
	p.slots[id%(1<<jobPageBits)] = s
	p.used++
}

// remove deletes a job that is in the index, and its page if that becomes empty.
func (x *jobIndex) remove(id job.ID) {
	p := x.pageOf(id)
	p.slots[id%(1<<jobPageBits)] = 0
	if p.used--; p.used == 0 {
		delete(x.pages, x.key)
		x.page = nil
	}
}

// pageOf returns the page of an id, or nil if there is none.
func (x *jobIndex) pageOf(id job.ID) *jobPage {
	if key := uint64(id) >> jobPageBits; x.page == nil || key != x.key {
		x.key, x.page = key, x.pages[key]
	}
	return x.page
}
