package snapshot

import (
	"github.com/cockroachdb/pebble/v2"

	"github.com/carillon-io/carillon/job"
)

// A commit with many jobs has the rows of one job after those of another. Pebble keeps its place in the memtable from one
// row to the next, and needs no search for a row that follows the one before it. So the rows of a commit are staged kind by
// kind: those of one kind are mostly in the order of their keys. A later change of a key stays after an earlier one, because
// both are of one kind.

// groupMost is how many changes are put into the order of kinds at a time, which bounds the memory for it. It is more than
// what most commits have.
const groupMost = 8192

// group holds changes that are not staged yet. Its memory is used again.
type group struct {
	changes []job.Change
	order   []uint16 // of changes: places in it
	counts  [256]uint16
}

// add adds a change, and stages the group when it is full. A deleted range is staged at once, after what came before it.
func (g *group) add(b *pebble.Batch, c job.Change) error {
	if c.Op == job.OpDeleteRange || len(g.changes) == groupMost {
		if err := g.stage(b); err != nil {
			return err
		}
	}
	if c.Op == job.OpDeleteRange || len(c.Key) == 0 {
		return stageChange(b, c)
	}
	g.changes = append(g.changes, c)
	g.counts[c.Key[0]]++
	return nil
}

// stage copies the changes into a batch, kind by kind, and empties the group.
func (g *group) stage(b *pebble.Batch) error {
	g.sort()
	for _, i := range g.order {
		if err := stageChange(b, g.changes[i]); err != nil {
			return err
		}
	}
	g.reset()
	return nil
}

// sort sets order: by kind, and changes of one kind as they came.
func (g *group) sort() {
	begin := uint16(0)
	for kind, n := range g.counts {
		g.counts[kind] = begin
		begin += n
	}
	g.order = append(g.order[:0], make([]uint16, len(g.changes))...)
	for i, c := range g.changes {
		place := &g.counts[c.Key[0]]
		g.order[*place] = uint16(i)
		*place++
	}
}

// reset empties the group, and keeps no part of a commit.
func (g *group) reset() {
	clear(g.changes)
	g.changes, g.counts = g.changes[:0], [256]uint16{}
}
