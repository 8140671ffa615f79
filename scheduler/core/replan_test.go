package core

import (
	"testing"

	"github.com/carillon-io/carillon/job"
)

// TestCalendarChangesWhileJobsFollow changes a calendar again between the pieces of the first change: the mark
// stays until the second pass.
func TestCalendarChangesWhileJobsFollow(t *testing.T) {
	h := newHerd(t)
	h.put("herd", "daily", "0 18 * * *")
	commits := func(p *Replan) (n int) {
		h.step(p)
		_ = h.core.out.Commits(func(*job.Batch) error { n++; return nil })
		return n
	}
	c := h.core
	c.profiles.moved, c.changes = nil, 1
	commits(&Replan{From: 1})
	if c.followed != 1 {
		t.Fatalf("the pass began at change %d", c.followed)
	}
	c.changes++
	p := &Replan{From: 2}
	if n := commits(p); p.Next != 0 || n != 0 {
		t.Errorf("the end of the first pass made %d commits: next %d", n, p.Next)
	}
	if n := commits(&Replan{From: 1}); n != 1 {
		t.Errorf("the end of the second pass made %d commits; want that which clears the mark", n)
	}
}
