package core

import (
	"fmt"
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
	if err := c.checkTenants(); err != nil {
		return err
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

// checkTenants recounts what tenants use, without the bytes of their definitions: see CheckBytes.
func (c *Core) checkTenants() error {
	x := &c.tenants
	jobs, ticks, manual, byHand := make([]int, len(x.list)), make([]int, len(x.list)), make([]int, len(x.list)), 0
	for s := seat(1); s < c.rows.next; s++ {
		if r := c.rows.row(s); r.id != 0 {
			jobs[x.ofJob(r)]++
		}
	}
	for _, live := range c.live {
		if live.byHand {
			manual[live.tenant]++
			byHand++
		} else {
			ticks[live.tenant]++
		}
	}
	leads := c.fenceMin != 0
	for no, t := range x.list {
		switch {
		case t == nil && jobs[no]+ticks[no]+manual[no] > 0:
			return fmt.Errorf("tenant %d is free, and uses %d jobs, %d runs", no, jobs[no], ticks[no]+manual[no])
		case t == nil:
		case t.jobs != jobs[no] && no != 0:
			return fmt.Errorf("the tenant %s has %d jobs, counted %d", t.name, t.jobs, jobs[no])
		case leads && (t.ticks != ticks[no] || t.manual != manual[no]):
			return fmt.Errorf("the tenant %s has %d live runs of ticks and %d by hand, counted %d and %d", t.name, t.ticks, t.manual, ticks[no], manual[no])
		case no != 0 && (x.byName[t.name] != t || t.isIdle()):
			return fmt.Errorf("the tenant %s uses %d jobs, %d bytes and %d runs, and is known: %t", t.name, t.jobs, t.bytes, t.live(), x.byName[t.name] == t)
		}
	}
	if leads && x.manual != byHand {
		return fmt.Errorf("%d live runs by hand, counted %d", x.manual, byHand)
	}
	return nil
}

// CheckBytes recounts the bytes of the tenants' definitions in a store that has all commits of the core, and returns what
// is wrong. It checks nothing while the core itself still counts them.
func (c *Core) CheckBytes(from Scanner) error {
	if c.tenants.count.isUnder || c.fenceMin == 0 {
		return nil
	}
	sums := make(map[string]int64)
	low := []byte{byte(job.KindJob)}
	err := from.Scan(low, job.PrefixEnd(low), func(key, value []byte) (bool, error) {
		id, err := job.ParseJobKey(key)
		if err != nil {
			return false, err
		}
		rec, err := job.DecodeRecord(id, value)
		sums[rec.Def.Tenant] += int64(job.DefinitionBytes(&rec.Def))
		return true, err
	})
	if err != nil {
		return err
	}
	for name, t := range c.tenants.byName {
		if t.bytes != sums[name] {
			return fmt.Errorf("the definitions of the tenant %s have %d bytes, counted %d", name, t.bytes, sums[name])
		}
		delete(sums, name)
	}
	if len(sums) > 0 {
		return fmt.Errorf("the definitions of %v are not counted", sums)
	}
	return nil
}
