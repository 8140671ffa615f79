package core

import (
	"cmp"
	"slices"

	"github.com/carillon-io/carillon/job"
)

// The index of lists is two kinds of row by which lists find jobs: by a label, and by a trait of the hot row, such as
// paused. A unit that changes what a row of the index says changes that row too, from what its proposal and the hot row
// have: no step reads for it.
//
// A store of an earlier release has no index. As soon as every node can read its rows, the leader builds it in the
// order of the jobs' ids. Between two steps it reads some definitions, and the next step begins by writing their rows,
// before anything can change the jobs. One meta row says how far the index is, in the unit of the rows before it. So a
// start or a takeover continues, and lists use the index once it is complete.
//
// Invariant: the jobs before upto have exactly the rows that their definitions and hot rows give them, and the other
// jobs have none.

const (
	// indexRows is how many definitions are read for the index between two steps: about two milliseconds.
	indexRows = 1000
	// indexShare bounds the rows of the index that one step writes, beyond those of one job: by this part of a commit.
	// They are one unit.
	indexShare = 16
	// labelBytes is the size of a row of a label, without the name of the job.
	labelBytes = 16
	// traitBytes is the size of the rows of the traits of a job.
	traitBytes = 48
)

// listIndex says how far the index is.
type listIndex struct {
	upto job.ID // the first job that is not in the index; 0: there is no index yet
	may  bool   // every node can read its rows
	// found is what was read since the last step, in the order of ids. Its rows make next the first job that is not in
	// the index; next is 0 if nothing was read.
	found   []indexed
	next    job.ID
	rowsMax int // definitions that are read between two steps; 0 is indexRows. A field so that tests can lower it.
}

// indexed is what the index needs of the definition of a job.
type indexed struct {
	tenant, name string
	labels       []job.LabelHash
}

// bytes is an upper bound for the rows of a job in the index.
func (i *indexed) bytes() int { return traitBytes + labelRowsBytes(len(i.labels), i.name) }

// labelRowsBytes is the size of rows of labels of a job.
func labelRowsBytes(n int, name string) int { return n * (labelBytes + len(name)) }

// HasIndex reports whether there is an index of lists, complete or not.
func (c *Core) HasIndex() bool { return c.index.upto != 0 }

// IsIndexing reports whether jobs are still to be added to the index: see IndexSome.
func (c *Core) IsIndexing() bool { return c.HasIndex() && c.index.upto != job.IndexedAll }

// isToIndex reports whether the index wants a step.
func (c *Core) isToIndex() bool {
	return c.IsIndexing() || c.index.may && !c.HasIndex() && c.rows.count > 0
}

// IndexSome reads some further definitions from the store, which must have all commits of the core. It must be called
// between two steps of a core that leads, as long as IsIndexing. After an error nothing has changed.
func (c *Core) IndexSome(from Scanner) error {
	x := &c.index
	low := job.AppendJobKey(nil, job.KindJob, x.upto)
	found, next, size := []indexed(nil), job.IndexedAll, 0
	err := from.Scan(low, job.PrefixEnd([]byte{byte(job.KindJob)}), func(key, value []byte) (bool, error) {
		id, err := job.ParseJobKey(key)
		if err != nil {
			return false, err
		}
		if len(found) == cmp.Or(x.rowsMax, indexRows) || size >= c.commitMax/indexShare {
			next = id
			return false, nil
		}
		rec, err := job.DecodeRecord(id, value)
		found = append(found, indexed{rec.Def.Tenant, rec.Def.Name, job.LabelHashes(&rec.Def)})
		size += found[len(found)-1].bytes()
		return true, err
	})
	if err == nil {
		x.found, x.next = found, next
	}
	return err
}

// buildIndex writes the rows of the jobs that were read since the last step, or begins the index.
func (c *Core) buildIndex() {
	x := &c.index
	if x.next == 0 {
		if c.isToIndex() && !c.HasIndex() {
			c.unit(metaBytes)
			c.setIndexed(1)
		}
		return
	}
	size := metaBytes
	for i := range x.found {
		size += x.found[i].bytes()
	}
	c.unit(size)
	for i := range x.found {
		f := &x.found[i]
		for _, label := range f.labels {
			c.out.Batch.PutLabel(label, f.name)
		}
		if _, r := c.find(c.hash(f.tenant, f.name)); r != nil {
			c.indexTraits(r)
		}
	}
	c.setIndexed(x.next)
	x.found, x.next = nil, 0
}

// setIndexed records how far the index is.
func (c *Core) setIndexed(next job.ID) {
	c.index.upto = next
	c.out.Batch.PutIndexed(next)
}

// beginIndex begins the index with the first job of a store, as a unit before the one of the job. There is nothing to
// build then.
func (c *Core) beginIndex(p *Put) {
	if c.index.may && !c.HasIndex() && c.rows.count == 0 {
		c.unit(metaBytes)
		c.setIndexed(job.IndexedAll)
		c.unit(p.Bytes())
	}
}

// indexLabels replaces the rows of the labels that a job had by those of the labels that it has.
func (c *Core) indexLabels(id job.ID, name string, had, has []job.LabelHash) {
	if id >= c.index.upto {
		return
	}
	for _, label := range had {
		if !slices.Contains(has, label) {
			c.out.Batch.DeleteLabel(label, name)
		}
	}
	for _, label := range has {
		if !slices.Contains(had, label) {
			c.out.Batch.PutLabel(label, name)
		}
	}
}

// indexState replaces the row of the state under which a job was counted by that of the state that its flags give. It
// must be called before [table.note].
func (c *Core) indexState(r *hotRow) {
	had, has := r.notedTrait(), r.flags.StateTrait()
	if had != has {
		c.setTrait(r, had, false)
		c.setTrait(r, has, true)
	}
}

// indexTraits writes the rows of the traits of a job.
func (c *Core) indexTraits(r *hotRow) {
	if has := r.flags.StateTrait(); has != 0 {
		c.out.Batch.PutTrait(c.tenantOf(r).hash, has, r.id)
	}
	if r.flags.Is(job.FlagDead) {
		c.out.Batch.PutTrait(c.tenantOf(r).hash, job.TraitDead, r.id)
	}
}

// unindexTraits deletes the rows of the traits of a job that is deleted.
func (c *Core) unindexTraits(r *hotRow) {
	c.setTrait(r, r.notedTrait(), false)
	if r.flags.Is(job.FlagDead) {
		c.setTrait(r, job.TraitDead, false)
	}
}

// setTrait writes the row of a trait of a job in the index, or deletes it; 0 is no trait.
func (c *Core) setTrait(r *hotRow, t job.Trait, has bool) {
	switch {
	case t == 0 || r.id >= c.index.upto:
	case has:
		c.out.Batch.PutTrait(c.tenantOf(r).hash, t, r.id)
	default:
		c.out.Batch.DeleteTrait(c.tenantOf(r).hash, t, r.id)
	}
}

// notedTrait returns the trait of the state under which a row is counted; 0 for an active one, and for one that is not
// counted yet.
func (r *hotRow) notedTrait() job.Trait {
	last := r.marks & stateMask >> stateShift
	if last == 0 {
		return 0
	}
	return stateFlags[last-1].StateTrait()
}
