package core

import (
	"github.com/carillon-io/carillon/instant"
	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/wheel"
)

// seat is the place of a job's hot row in memory. Seats are reused after a delete, so code that keeps one over a
// commit must compare the row's id.
type seat uint32

// hotRow is what a decision needs of a job, for every job: 48 bytes and no pointer, so that ten million of them cost
// the garbage collector nothing. Everything else about a job is in the store.
type hotRow struct {
	// id is 0 while the seat is free; cursor then links to the next free seat.
	id job.ID
	// cursor is the first instant that is not decided; last is the newest tick that was decided or given to a manual
	// run.
	cursor  instant.Millis
	last    instant.Millis
	profile uint32
	// version counts definitions, runs the fired ticks (for max_runs), and manual the runs that callers started.
	version uint32
	runs    uint32
	manual  uint32
	// timer is the job's timer on the wheel, or with markBacklog its ticket in a line; 0: it waits nowhere.
	timer  wheel.Ref
	flags  job.TimerFlags
	marks  rowMarks
	tenant uint16 // number of its tenant; 0: see tenants.wide
}

// rowMarks say where a job is and, in their upper bits, under which state it is counted. They are not stored: a start
// finds out anew where each job belongs.
type rowMarks uint8

const (
	markReaping rowMarks = 1 << iota // completed, and armed for the end of its retention
	markBacklog                      // due and off the wheel, in the backlog
	markResumed                      // it was resumed, and has ticks of the pause to decide
)

// markAway marks a job that presence.away holds. It is above the bits of the state.
const markAway rowMarks = 1 << 6

func (m rowMarks) is(mark rowMarks) bool { return m&mark != 0 }

// timerRow returns the durable part of the row.
func (r *hotRow) timerRow() job.Timer {
	return job.Timer{
		Profile: r.profile, Cursor: r.cursor, Last: r.last, Version: r.version,
		Runs: r.runs, Manual: r.manual, Flags: r.flags,
	}
}

// setTimerRow sets the durable part of the row.
func (r *hotRow) setTimerRow(t job.Timer) {
	r.profile, r.cursor, r.last, r.version = t.Profile, t.Cursor, t.Last, t.Version
	r.runs, r.manual, r.flags = t.Runs, t.Manual, t.Flags
}

// noteTick records that a tick is decided. last never decreases, because a schedule that the job gets later begins
// after it.
func (r *hotRow) noteTick(at instant.Millis) {
	if at >= r.last {
		r.last = at
		r.flags &^= job.FlagLastManual
	}
}

// resume records whether the job, which was paused until now, missed ticks by that. An earlier resume may have found some, and the clock
// been set back since.
func (r *hotRow) resume(now instant.Millis) {
	r.marks &^= markResumed
	if r.cursor <= now && !r.flags.Is(job.FlagCompleted|job.FlagFailed) {
		r.marks |= markResumed
	}
}

// isActive reports whether the job is to be armed at its cursor.
func (r *hotRow) isActive() bool {
	return !r.flags.Is(job.FlagPaused | job.FlagCompleted | job.FlagFailed)
}

// pageRows is the number of rows that are allocated together. Growing the table copies no row. A page is 192 KiB. A
// slice that doubles would copy hundreds of megabytes within one step.
const pageRows = 4096

// table holds the hot rows in pages, with a free list through the rows themselves.
type table struct {
	pages [][]hotRow
	free  seat // head of the free list; 0 means none, because seat 0 is never used
	next  seat // first seat that was never used
	count int
	spare []hotRow // the next page, made while the core is loaded; nil: none

	byState [JobStates]int // rows
	// last is the latest tick that any row has ever shown as decided. It does not fall when a job is deleted.
	last instant.Millis
}

// newTable returns an empty table. Seat 0 is left out, so that zero can mean "none".
func newTable() table { return table{pages: [][]hotRow{make([]hotRow, pageRows)}, next: 1} }

// row returns the row of a seat. The pointer is valid until the seat is released: pages never move.
func (t *table) row(s seat) *hotRow {
	return &t.pages[s/pageRows][s%pageRows]
}

// alloc returns a zeroed row for a job.
func (t *table) alloc(id job.ID) (seat, *hotRow) {
	s := t.free
	if s != 0 {
		t.free = seat(t.row(s).cursor)
	} else {
		s = t.next
		t.next++
		if int(s/pageRows) == len(t.pages) {
			t.pages = append(t.pages, t.nextPage())
		}
	}
	r := t.row(s)
	*r = hotRow{id: id}
	t.count++
	return s, r
}

// nextPage returns the spare page, or a new one.
func (t *table) nextPage() []hotRow {
	page := t.spare
	if t.spare = nil; page == nil {
		page = make([]hotRow, pageRows)
	}
	return page
}

// touchedPage returns a new page whose memory the system has provided. The system does that at the first write to each of its
// own pages, which takes longer than all else that a start does with the rows there.
func touchedPage() []hotRow {
	const rows = systemPageBytes / 48
	page := make([]hotRow, pageRows)
	for i := 0; i < pageRows; i += rows {
		page[i] = hotRow{}
	}
	return page
}

// systemPageBytes is the size of a page of memory on most systems.
const systemPageBytes = 4096

// release frees a seat.
func (t *table) release(s seat) {
	t.uncount(t.row(s))
	*t.row(s) = hotRow{cursor: instant.Millis(t.free)}
	t.free = s
	t.count--
}
