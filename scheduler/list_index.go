package scheduler

import "github.com/carillon-io/carillon/job"

// mayIndex reports whether every node can read the rows of the index of lists. Once there is an index, the answer does
// not matter any more.
func (e *Engine) mayIndex() bool {
	if e.core.HasIndex() {
		return true
	}
	most, _ := e.rowsMax()
	return most >= job.RowsVersionOfIndex
}

// indexSome reads further definitions for the index of lists after a step, if the index is not complete.
func (e *Engine) indexSome() error {
	if !e.core.IsIndexing() {
		return nil
	}
	return e.core.IndexSome(e.opts.Store)
}

// isIndexed reports whether lists may use the index: whether every job is in it.
func (e *Engine) isIndexed() (bool, error) {
	value, ok, err := e.opts.Store.Get(job.AppendMetaKey(nil, job.MetaIndexed))
	if err != nil || !ok {
		return false, err
	}
	n, err := job.DecodeMeta(value)
	return job.ID(n) == job.IndexedAll, err
}
