package core

import (
	"sort"

	"github.com/carillon-io/carillon/instant"
	"github.com/carillon-io/carillon/job"
)

// Watches are linked in the order in which they were opened, so that the oldest awaited report is known without a
// search.
//
// Invariant: since does not decrease along the list from oldest to newest.

// link appends a new watch to the list. The clock may have been set back since the one before.
func (w *watches) link(n uint32, now instant.Millis) {
	x := &w.list[n]
	x.since, x.older, x.newer = now, w.newest, 0
	if w.newest == 0 {
		w.oldest = n
	} else {
		last := &w.list[w.newest]
		last.newer, x.since = n, max(now, last.since)
	}
	w.newest = n
}

// unlink removes a watch from the list.
func (w *watches) unlink(n uint32) {
	x := &w.list[n]
	if x.older == 0 {
		w.oldest = x.newer
	} else {
		w.list[x.older].newer = x.newer
	}
	if x.newer == 0 {
		w.newest = x.older
	} else {
		w.list[x.newer].older = x.older
	}
}

// awaitedSince returns since when the oldest awaited report has been awaited; 0 if none is.
func (w *watches) awaitedSince() instant.Millis {
	if w.oldest == 0 {
		return 0
	}
	return w.list[w.oldest].since
}

// recallAges orders the watches that were loaded. The row of a run does not say when it was delivered, so its launch
// time stands in for that.
func (w *watches) recallAges(runs map[job.RunID]*job.Run) {
	var all []uint32
	for n := w.oldest; n != 0; n = w.list[n].newer {
		w.list[n].since = runs[w.list[n].run].LaunchedAt
		all = append(all, n)
	}
	sort.Slice(all, func(i, j int) bool { return w.list[all[i]].since < w.list[all[j]].since })
	w.oldest, w.newest = 0, 0
	for _, n := range all {
		w.link(n, w.list[n].since)
	}
}
