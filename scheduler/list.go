package scheduler

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/carillon-io/carillon/job"
)

// listBounds bound the work for one page of a list. They are a value so that tests can lower them.
type listBounds struct {
	reads int // jobs whose rows are read
	// names is how many rows of names or of labels are passed over without a read of their jobs.
	names int
	// traits is how many rows of a trait are read. A trait that more jobs have is not looked up: a list by names meets
	// enough of them.
	traits int
	// sort is the largest number of jobs that are all read in order to sort their names. Lists of more jobs go through
	// the names.
	sort int
}

// usualListBounds let one page take some tens of milliseconds if no row is cached, and at most about a hundred.
var usualListBounds = listBounds{reads: 2_500, names: 100_000, traits: 100_000, sort: 2_000}

// ListPlan is how the jobs of a list are found, and what is left of the work for one page. There are three ways:
//
//   - by: a few jobs, which the index of traits has found. Their names are read and sorted once.
//   - low, high with a label: the rows of one label, in the order of names.
//   - low, high without: the rows of all names.
//
// In the latter two, only says which jobs may be selected, if a trait is rare enough to know; and of each job whose row
// passes, the rest of the query is held against what is read.
type ListPlan struct {
	by     []named // in the order of names; only with isFew
	isFew  bool
	prefix []byte          // of the keys of rows, before the name
	label  bool            // rows of a label have no ids
	others []job.LabelHash // further labels, which a job must have in the index
	only   []job.ID        // in order; nil: any job
	names  int             // rows that may still be passed over
	reads  int             // jobs that may still be read
}

// named is a job with its name.
type named struct {
	name string
	id   job.ID
}

// List returns a page of a tenant's jobs, in the order of their names.
func (e *Engine) List(ctx context.Context, q ListQuery) (page JobPage, err error) {
	q.Contains = string(appendLower(nil, q.Contains))
	p := q.Plan
	if p == nil {
		if p, err = e.planList(&q); err != nil {
			return JobPage{}, err
		}
	}
	page.Plan = p
	if p.isFew {
		return page, e.listFew(ctx, &q, &page)
	}
	return page, e.listRows(ctx, &q, &page)
}

// listRows fills a page from the rows of names or of a label.
func (e *Engine) listRows(ctx context.Context, q *ListQuery, page *JobPage) error {
	p := page.Plan
	low := append(slices.Clone(p.prefix), max(q.Prefix, q.After)...)
	if q.After != "" && q.After >= q.Prefix {
		low = append(low, 0)
	}
	high := job.PrefixEnd(append(slices.Clone(p.prefix), q.Prefix...))
	var last, lower []byte
	more := false
	err := e.opts.Store.Scan(low, high, func(key, value []byte) (bool, error) {
		if more = len(page.Jobs) == q.Limit || p.names <= 0 || p.reads <= 0; more {
			return false, nil
		}
		name := key[len(p.prefix):]
		last = append(last[:0], name...)
		p.names--
		if !q.hasName(name, &lower) {
			return true, nil
		}
		id, ok, err := e.candidate(p, q.Tenant, name, value)
		if err != nil || !ok {
			return true, err
		}
		p.reads--
		v, ok, err := e.viewFor(ctx, id, q)
		if ok && (q.Status == "" || q.Status == v.Status) {
			page.Jobs = append(page.Jobs, v)
		}
		return true, err
	})
	if more {
		page.Next = string(last)
	}
	return err
}

// candidate returns the job of a row, and whether it may be selected by what the index says.
func (e *Engine) candidate(p *ListPlan, tenant string, name, value []byte) (id job.ID, ok bool, err error) {
	for _, label := range p.others {
		p.reads--
		if _, ok, err := e.opts.Store.Get(job.AppendLabelKey(nil, label, string(name))); err != nil || !ok {
			return 0, false, err
		}
	}
	if ok = true; p.label {
		id, ok, err = e.lookUp(tenant, string(name))
	} else {
		id, err = job.DecodeName(value)
	}
	if ok && p.only != nil {
		_, ok = slices.BinarySearch(p.only, id)
	}
	return id, ok && err == nil, err
}

// listFew fills a page from the few jobs that the plan has.
func (e *Engine) listFew(ctx context.Context, q *ListQuery, page *JobPage) error {
	for i, n := range page.Plan.by {
		if n.name <= q.After {
			continue
		}
		v, ok, err := e.viewFor(ctx, n.id, q)
		if err != nil {
			return err
		}
		if ok && (q.Status == "" || q.Status == v.Status) {
			page.Jobs = append(page.Jobs, v)
		}
		if len(page.Jobs) == q.Limit {
			if i+1 < len(page.Plan.by) {
				page.Next = n.name
			}
			return nil
		}
	}
	return nil
}

// planList decides how the jobs of a list are found.
func (e *Engine) planList(q *ListQuery) (*ListPlan, error) {
	p := &ListPlan{prefix: job.AppendNameKey(nil, q.Tenant, ""), names: e.lists.names, reads: e.lists.reads}
	traits := q.traits()
	if len(traits)+len(q.Labels) == 0 {
		return p, nil
	}
	if ok, err := e.isIndexed(); err != nil || !ok {
		return p, err
	}
	ids, isRare, err := e.rarest(q.Tenant, traits)
	if err != nil {
		return nil, err
	}
	count := e.lists.sort + 1
	if len(q.Labels) > 0 {
		if count, err = e.planLabels(p, q); err != nil {
			return nil, err
		}
	}
	if isRare && len(ids) <= min(count, e.lists.sort) {
		return p, e.planFew(p, q, ids)
	}
	if isRare {
		p.only = ids
	}
	return p, nil
}

// traits returns the traits that each selected job has. Active is none.
func (q *ListQuery) traits() (list []job.Trait) {
	for _, t := range []job.Trait{job.TraitPaused, job.TraitCompleted, job.TraitFailed} {
		if q.Status == t.String() {
			list = append(list, t)
		}
	}
	if q.LastFailed {
		list = append(list, job.TraitDead)
	}
	return list
}

// rarest returns the jobs with that of some traits which the fewest jobs have; false if each is too common. Tenants
// with the same hash share the rows.
func (e *Engine) rarest(tenant string, traits []job.Trait) (ids []job.ID, isRare bool, err error) {
	for _, t := range traits {
		low := job.AppendTraits(nil, job.HashTenant(tenant), t)
		most := e.lists.traits
		if isRare {
			most = len(ids) - 1
		}
		var found []job.ID
		err := e.opts.Store.Scan(low, job.PrefixEnd(low), func(key, _ []byte) (bool, error) {
			_, id, err := job.ParseTraitKey(key)
			found = append(found, id)
			return len(found) <= most, err
		})
		if err != nil {
			return nil, false, err
		}
		if len(found) <= most {
			ids, isRare = found, true
		}
	}
	return ids, isRare, nil
}

// planLabels lets the list go through the rows of the label that the fewest jobs have, and returns how many these are,
// at most one more than are worth sorting.
func (e *Engine) planLabels(p *ListPlan, q *ListQuery) (int, error) {
	least, count := 0, e.lists.sort+2
	hashes := make([]job.LabelHash, len(q.Labels))
	for i, label := range q.Labels {
		hashes[i] = job.HashLabel(q.Tenant, label)
		n, low := 0, job.AppendLabelKey(nil, hashes[i], q.Prefix)
		err := e.opts.Store.Scan(low, job.PrefixEnd(low), func(_, _ []byte) (bool, error) {
			n++
			return n < min(count, e.lists.sort+1), nil
		})
		if err != nil {
			return 0, err
		}
		if n < count {
			least, count = i, n
		}
	}
	p.label, p.prefix = true, job.AppendLabelKey(nil, hashes[least], "")
	p.others = slices.Delete(hashes, least, least+1)
	return count, nil
}

// planFew reads the names of a few jobs and sorts them, as far as the query may select them.
func (e *Engine) planFew(p *ListPlan, q *ListQuery, ids []job.ID) error {
	p.isFew = true
	var lower []byte
	for _, id := range ids {
		rec, ok, err := e.readRecord(id)
		if err != nil {
			return err
		}
		name := rec.Def.Name
		if ok && strings.HasPrefix(name, q.Prefix) && name > q.After && q.hasName([]byte(name), &lower) && q.hasRecord(&rec) {
			p.by = append(p.by, named{name, id})
		}
	}
	slices.SortFunc(p.by, func(a, b named) int { return cmp.Compare(a.name, b.name) })
	return nil
}
