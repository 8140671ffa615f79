package core

import "github.com/carillon-io/carillon/job"

// jobIndex finds the seat of a job by its id. A core that follows a leader needs it, because the leader's rows name
// jobs by id. It goes by the ordinals of ids, which are consecutive, so most of a page is in use, and the index takes
// about four bytes a job. The zero value must not be used: see newJobIndex. A map from id to seat would take several
// times as much. Ids that are near each other are often used together, so the page that was found last is remembered.
type jobIndex struct {
	numbers *numbering          // of the core
	pages   map[uint64]*jobPage // by the upper bits of the ordinals, and whether the ids carry slots
	key     uint64              // of the page that was found last
	page    *jobPage            // the page under key; nil: there is none
}

// jobPage holds the seats of a range of ordinals; 0 means no job.
type jobPage struct {
	seats [1 << jobPageBits]seat
	used  int
}

const (
	// jobPageBits is how many lower bits of an ordinal give its place on a page. A page is thus 16 KiB. A larger one
	// wastes more where jobs were deleted; a smaller one makes the map larger.
	jobPageBits = 12
	// slottedPages marks the keys of pages for ids with slots. Their ordinals are smaller than those of the ids
	// without, so without the mark both could be on one page.
	slottedPages = 1 << 63
)

// newJobIndex returns the index of the jobs of a table, whose ids come from numbers.
func newJobIndex(t *table, numbers *numbering) *jobIndex {
	x := &jobIndex{numbers: numbers, pages: make(map[uint64]*jobPage)}
	for s := seat(1); s < t.next; s++ {
		if id := t.row(s).id; id != 0 {
			x.add(id, s)
		}
	}
	return x
}

// find returns the seat of the job with the ordinal of an id, or 0 if there is none. Only one job has a counter, but an
// id with that counter and another slot is not its id: the caller must compare the id of the row.
func (x *jobIndex) find(id job.ID) seat {
	p, place := x.pageOf(id)
	if p == nil {
		return 0
	}
	return p.seats[place]
}

// add records the seat of a job that is not in the index.
func (x *jobIndex) add(id job.ID, s seat) {
	p, place := x.pageOf(id)
	if p == nil {
		p = new(jobPage)
		x.page, x.pages[x.key] = p, p
	}
	p.seats[place] = s
	p.used++
}

// remove deletes a job that is in the index, and its page if that becomes empty.
func (x *jobIndex) remove(id job.ID) {
	p, place := x.pageOf(id)
	p.seats[place] = 0
	if p.used--; p.used == 0 {
		delete(x.pages, x.key)
		x.page = nil
	}
}

// pageOf returns the page of an id, or nil if there is none, and the id's place on it. Afterwards x.key is the key of
// the page.
func (x *jobIndex) pageOf(id job.ID) (p *jobPage, place uint64) {
	n := x.numbers.ordinal(id)
	key := n >> jobPageBits
	if x.numbers.hasSlot(id) {
		key |= slottedPages
	}
	if x.page == nil || key != x.key {
		x.key, x.page = key, x.pages[key]
	}
	return x.page, n % (1 << jobPageBits)
}
