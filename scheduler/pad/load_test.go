package pad

import (
	"testing"

	"github.com/carillon-io/carillon/job"
)

// TestOverdue: a launch whose time has passed and that may not leave is behind too.
func TestOverdue(t *testing.T) {
	p := New(Options{})
	p.Add([]Launch{{Run: job.RunID{Job: 1, At: 5000}, Due: 5000}, {Run: job.RunID{Job: 2, At: 4000}, Due: 4000}}, 3000)
	if due := p.Overdue(); due != 4000 {
		t.Errorf("the first is due at %d, want 4000", due)
	}
	p.held = true
	if due := p.Overdue(); due != 0 {
		t.Errorf("nothing may leave any more, but something is due at %d", due)
	}
}
