package core

import (
	"fmt"

	"github.com/carillon-io/carillon/job"
)

// A start with many jobs is faster on several cores. So rows pass through blocks: some goroutines decode rows into blocks,
// each those of another part of the keys, while one adds the rows of earlier blocks to the core. Adding is in the order of
// the keys whatever the other goroutines do, so a start has one result. A core starts no goroutine itself.

// Block holds decoded rows of one kind until they are added to a core. A block is used by one goroutine at a time, and its
// memory again: once the first blocks are full, no row needs new memory.
type Block interface {
	// Read decodes a row to the end of the block. It keeps neither key nor value, and touches nothing that Read or Add
	// of another block changes, so that these may run at the same time.
	Read(key, value []byte) error
	// IsFull reports whether the block has as many rows as it should have.
	IsFull() bool
	// Add adds the rows to the core and empties the block. It is called for one block after the other, in the order of
	// the rows.
	Add() error
}

// BlockScanner is a scanner that decodes and adds rows on different goroutines.
type BlockScanner interface {
	Scanner
	// ScanBlocks passes the rows in [low, high), in the order of keys, through blocks, which it makes with empty and
	// uses again. An error is the first one in that order.
	ScanBlocks(low, high []byte, empty func() Block) error
	// Spread calls do for the numbers below n, several at a time. It returns when all calls have.
	Spread(n int, do func(i int))
}

// spread calls do for the numbers below n, one after the other if the scanner can do no more.
func spread(from Scanner, n int, do func(i int)) {
	if s, ok := from.(BlockScanner); ok {
		s.Spread(n, do)
		return
	}
	for i := range n {
		do(i)
	}
}

const (
	// blockRows is how many rows a block has, at about 50 bytes each.
	blockRows = 2048
	// blockRowsFirst is for how many a new block has room. A process with hundreds of small shards opens each.
	blockRowsFirst = 64
)

// withRoom returns the rows of a block with room for one more: at first for a few, and then for as many as it may have.
func withRoom[T any](rows []T, most int) []T {
	if len(rows) < cap(rows) {
		return rows
	}
	if len(rows) == 0 {
		return make([]T, 0, blockRowsFirst)
	}
	return append(make([]T, 0, most), rows...)
}

// scanBlocks passes rows through blocks, on one goroutine if the scanner can do no more.
func scanBlocks(from Scanner, low, high []byte, empty func() Block) error {
	if ahead, ok := from.(BlockScanner); ok {
		return ahead.ScanBlocks(low, high, empty)
	}
	b := empty()
	err := from.Scan(low, high, func(key, value []byte) (bool, error) {
		if err := b.Read(key, value); err != nil || !b.IsFull() {
			return true, err
		}
		return true, b.Add()
	})
	if err != nil {
		return err
	}
	return b.Add()
}

// rawBlock holds rows as they are: of kinds of which there are few rows. Their keys and values are stored one after the
// other in data.
type rawBlock struct {
	row  func(key, value []byte) error
	data []byte
	ends []uint32 // end in data of each key and each value
}

// rawBlockBytes is the size in bytes from which a block of rows is full.
const rawBlockBytes = 256 << 10

// Read implements [Block].
func (b *rawBlock) Read(key, value []byte) error {
	b.data = append(b.data, key...)
	b.ends = append(b.ends, uint32(len(b.data)))
	b.data = append(b.data, value...)
	b.ends = append(b.ends, uint32(len(b.data)))
	return nil
}

// IsFull implements [Block].
func (b *rawBlock) IsFull() bool { return len(b.data) >= rawBlockBytes }

// Add implements [Block]. The slices that it passes have no spare capacity, so an append of the callee cannot overwrite
// the next row.
func (b *rawBlock) Add() error {
	begin := uint32(0)
	for i := 0; i < len(b.ends); i += 2 {
		if err := b.row(b.data[begin:b.ends[i]:b.ends[i]], b.data[b.ends[i]:b.ends[i+1]:b.ends[i+1]]); err != nil {
			return err
		}
		begin = b.ends[i+1]
	}
	b.data, b.ends = b.data[:0], b.ends[:0]
	return nil
}

// profileBlock holds profiles.
type profileBlock struct {
	core *Core
	rows []profileRow
	text []byte // scratch
}

type profileRow struct {
	n       uint32
	hash    NameHash
	profile job.Profile
}

// Read implements [Block].
func (b *profileBlock) Read(key, value []byte) error {
	n, p, err := readProfile(key, value)
	b.text = job.AppendProfile(b.text[:0], &p)
	b.rows = append(withRoom(b.rows, blockRows/4), profileRow{n, b.core.text(b.text), p})
	return err
}

// IsFull implements [Block].
func (b *profileBlock) IsFull() bool { return len(b.rows) == blockRows/4 } // they are larger

// Add implements [Block].
func (b *profileBlock) Add() error {
	for i := range b.rows {
		b.core.keepProfile(b.rows[i].n, &b.rows[i].profile, b.rows[i].hash)
	}
	clear(b.rows)
	b.rows = b.rows[:0]
	return nil
}

// timerBlock holds the timers of jobs.
type timerBlock struct {
	core *Core
	rows []timerRow
	// page is for the table, if it has none. The goroutine that reads makes it, because the one that adds has more to do.
	page []hotRow
}

type timerRow struct {
	id    job.ID
	timer job.Timer
}

// Read implements [Block].
func (b *timerBlock) Read(key, value []byte) error {
	id, t, err := readTimer(key, value)
	b.rows = append(withRoom(b.rows, blockRows), timerRow{id, t})
	if b.page == nil && len(b.rows) == blockRows {
		b.page = touchedPage()
	}
	return err
}

// IsFull implements [Block].
func (b *timerBlock) IsFull() bool { return len(b.rows) == blockRows }

// Add implements [Block].
func (b *timerBlock) Add() error {
	if t := &b.core.rows; t.spare == nil {
		t.spare, b.page = b.page, nil
	}
	for i := range b.rows {
		if err := b.core.loadTimer(b.rows[i].id, &b.rows[i].timer); err != nil {
			return err
		}
	}
	b.rows = b.rows[:0]
	return nil
}

// nameBlock holds the names of jobs as their hashes. The names themselves are for errors.
type nameBlock struct {
	core    *Core
	rows    []nameRow
	tenants []string // of the rows, one after the other
	text    []byte   // the names, one after the other
}

// nameRow has no pointer, so that the garbage collector does not look at it.
type nameRow struct {
	hash   NameHash
	id     job.ID
	tenant uint32 // place in tenants
	end    uint32 // of the name in text
}

// Read implements [Block].
func (b *nameBlock) Read(key, value []byte) error {
	tenant, name, err := job.CutNameKey(key)
	if err != nil {
		return err
	}
	id, err := job.DecodeName(value)
	if n := len(b.tenants); n == 0 || string(tenant) != b.tenants[n-1] {
		b.tenants = append(b.tenants, string(tenant))
	}
	b.text = append(b.text, name...)
	b.rows = append(withRoom(b.rows, blockRows), nameRow{
		hash: b.core.text(key[1:]), id: id, tenant: uint32(len(b.tenants) - 1), end: uint32(len(b.text)),
	})
	return err
}

// IsFull implements [Block].
func (b *nameBlock) IsFull() bool { return len(b.rows) == blockRows }

// Add implements [Block]. The jobs' timers must have been added before.
func (b *nameBlock) Add() error {
	c := b.core
	for i := range b.rows {
		n := &b.rows[i]
		s := c.seatOf(n.id)
		if s == 0 {
			return fmt.Errorf("job %s (%s of %s) has a name but no timer", n.id, b.name(i), b.tenants[n.tenant])
		}
		c.names.stage(n.hash, s)
		c.tenants.addJob(c.rows.row(s), c.tenants.of(b.tenants[n.tenant]))
	}
	b.rows, b.tenants, b.text = b.rows[:0], b.tenants[:0], b.text[:0]
	return nil
}

// name returns the name of a row.
func (b *nameBlock) name(i int) []byte {
	begin := uint32(0)
	if i > 0 {
		begin = b.rows[i-1].end
	}
	return b.text[begin:b.rows[i].end]
}
