package scheduler

import (
	"slices"
	"testing"

	"github.com/carillon-io/carillon/job"
)

// TestJobStates checks, for all bits of a row, that the counted state is the one that the API shows.
func TestJobStates(t *testing.T) {
	for bits := range 1 << 5 {
		flags := job.TimerFlags(bits)
		if got, want := stateOf(flags).String(), flags.JobStatus(); got != want {
			t.Errorf("bits %b: state %s, want %s", bits, got, want)
		}
	}
}

// checkCounts recounts what a core keeps count of, and looks whether its list of awaited reports is whole. The
// random stories call it after each act: after puts, pauses, deletions, retention and crashes.
func checkCounts(t testing.TB, c *Core) {
	t.Helper()
	var states [JobStates]int
	for s := slot(1); s < c.rows.next; s++ {
		if r := c.rows.row(s); r.id != 0 {
			states[stateOf(r.flags)]++
		}
	}
	if states != c.rows.byState {
		t.Errorf("%v jobs by state, counted %v", c.rows.byState, states)
	}
	w := &c.watches
	var listed, used []uint32
	for n, last := w.oldest, uint32(0); n != 0 && len(listed) <= w.used; last, n = n, w.list[n].newer {
		if w.list[n].older != last || last != 0 && w.list[last].since > w.list[n].since {
			t.Errorf("watch %d %+v follows %d %+v", n, w.list[n], last, w.list[last])
		}
		listed = append(listed, n)
	}
	for n, x := range w.list {
		if x.run != (job.RunID{}) {
			used = append(used, uint32(n))
		}
	}
	if slices.Sort(listed); !slices.Equal(listed, used) {
		t.Errorf("the watches %v are listed, want %v", listed, used)
	}
}
