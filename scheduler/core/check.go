package core

import (
	"fmt"
	"maps"
	"slices"

	"github.com/carillon-io/carillon/job"
)

// Check recounts what the core counts, and checks that its list of awaited reports is complete. It returns what is
// wrong, for tests and simulations. Its cost grows with the number of jobs. It must be called between two steps.
func (c *Core) Check() error {
	var states [JobStates]int
	for s := seat(1); s < c.rows.next; s++ {
		if r := c.rows.row(s); r.id != 0 {
			states[stateOf(r.flags)]++
		}
	}
	if states != c.rows.byState {
		return fmt.Errorf("%v jobs by state, counted %v", c.rows.byState, states)
	}
	shares := liveShares{by: make(map[job.TenantHash]liveShare)}
	for _, live := range c.live {
		shares.add(live, 1)
	}
	if leads := c.fenceMin != 0; leads && (shares.manual != c.shares.manual || !maps.Equal(shares.by, c.shares.by)) {
		return fmt.Errorf("live runs by tenant are %v, counted %v", shares.by, c.shares.by)
	}
	w := &c.watches
	var listed, used []uint32
	for n, last := w.oldest, uint32(0); n != 0 && len(listed) <= w.used; last, n = n, w.list[n].newer {
		if w.list[n].older != last || last != 0 && w.list[last].since > w.list[n].since {
			return fmt.Errorf("watch %d %+v follows %d %+v", n, w.list[n], last, w.list[last])
		}
		listed = append(listed, n)
	}
	for n, x := range w.list {
		if x.run != (job.RunID{}) {
			used = append(used, uint32(n))
		}
	}
	if slices.Sort(listed); !slices.Equal(listed, used) {
		return fmt.Errorf("the watches %v are listed, want %v", listed, used)
	}
	return nil
}
