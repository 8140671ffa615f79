package scheduler

import (
	"fmt"
	"sort"

	"github.com/carillon-io/carillon/job"
)

// scanner is the part of a Store that loading needs.
type scanner interface {
	Scan(low, high []byte, fn func(key, value []byte) (more bool, err error)) error
}

// Load fills an empty core with what the store holds, arms the wheel, and asks for the launches of
// the runs that have no outcome. Those that were with their targets when the process died are
// launched again, under the same run id; their fence is at least that of the commit that begins the
// new epoch, at lsn.
func (c *Core) Load(from scanner, lsn uint64, hash func(tenant, name string) nameHash) ([]Launch, error) {
	c.lsn, c.fenceMin = lsn, lsn
	c.onces.since = lsn
	c.ahead.loaded = job.Millis(c.wheel.Now()).Add(c.settings.Lead)
	var launches []Launch
	load := []struct {
		kind job.Kind
		row  func(key, value []byte) error
	}{
		{job.KindMeta, c.loadMeta},
		{job.KindProfile, c.loadProfile},
		{job.KindTimer, c.loadTimer},
		{job.KindName, c.loadName(hash)},
		{job.KindRun, func(key, value []byte) error {
			l, err := c.loadRun(key, value)
			launches = append(launches, l)
			return err
		}},
	}
	for _, l := range load {
		low := []byte{byte(l.kind)}
		err := scanAhead(from, low, job.PrefixEnd(low), l.row)
		if err != nil {
			return nil, fmt.Errorf("scheduler: load rows of kind %d: %w", l.kind, err)
		}
	}
	c.profiles.seal()
	sort.SliceStable(launches, func(i, j int) bool { return launches[i].Due < launches[j].Due })
	return launches, nil
}

func (c *Core) loadMeta(key, value []byte) error {
	n, err := job.DecodeMeta(value)
	switch string(key[1:]) {
	case metaEpoch:
		c.epoch = n
	case metaNextID:
		c.nextID = job.ID(n)
	case metaPrunedDay:
		c.prunedDay = uint32(n)
	}
	return err
}

func (c *Core) loadProfile(key, value []byte) error {
	n, err := job.ParseProfileKey(key)
	if err != nil {
		return err
	}
	p, err := job.DecodeProfile(value)
	if err != nil {
		return err
	}
	c.profiles.restore(n, p)
	return nil
}

func (c *Core) loadTimer(key, value []byte) error {
	id, err := job.ParseJobKey(key)
	if err != nil {
		return err
	}
	t, err := job.DecodeTimer(value)
	if err != nil {
		return fmt.Errorf("job %s: %w", id, err)
	}
	if int(t.Profile) >= len(c.profiles.entries) {
		return fmt.Errorf("job %s: profile %d is missing", id, t.Profile)
	}
	s, r := c.rows.alloc(id)
	r.setTimerRow(t)
	c.profiles.get(t.Profile).refs++
	c.arm(s, r)
	return nil
}

// rowOf finds a job's slot by its id. It works while loading only: then slots are in the order of
// ids, because the rows are. Ids are a counter, so unless jobs were deleted the first guess is right.
func (c *Core) rowOf(id job.ID) slot {
	n := int(c.rows.next)
	if n > 1 && id >= c.rows.row(1).id {
		if guess := 1 + id - c.rows.row(1).id; guess < job.ID(n) && c.rows.row(slot(guess)).id == id {
			return slot(guess)
		}
	}
	i := 1 + sort.Search(n-1, func(i int) bool { return c.rows.row(slot(i+1)).id >= id })
	if i < n && c.rows.row(slot(i)).id == id {
		return slot(i)
	}
	return 0
}

// loadName returns what takes a name in. Before it, all timers are there.
func (c *Core) loadName(hash func(tenant, name string) nameHash) func(key, value []byte) error {
	return func(key, value []byte) error {
		tenant, name, err := job.ParseNameKey(key)
		if err != nil {
			return err
		}
		id, err := job.DecodeName(value)
		if err != nil {
			return err
		}
		s := c.rowOf(id)
		if s == 0 {
			return fmt.Errorf("job %s (%s of %s) has a name but no timer", id, name, tenant)
		}
		h := hash(tenant, name)
		c.rows.row(s).tenant = h.tenant
		c.names.add(h, s)
		return nil
	}
}

func (c *Core) loadRun(key, value []byte) (Launch, error) {
	id, err := job.ParseRunKey(key)
	if err != nil {
		return Launch{}, err
	}
	run, err := job.DecodeRun(id, value)
	if err != nil {
		return Launch{}, fmt.Errorf("run %s: %w", id, err)
	}
	run.Fence = max(run.Fence, c.fenceMin)
	live := liveRun{slot: c.rowOf(id.Job), attempt: run.Attempt, fence: run.Fence, payload: run.HasPayload}
	l := Launch{Run: id, Due: run.Due, Fence: run.Fence, Attempt: run.Attempt, HasPayload: run.HasPayload}
	if live.slot != 0 {
		r := c.rows.row(live.slot)
		l.Tenant = r.tenant
		if c.profiles.get(r.profile).Overlap == job.OverlapSkip {
			live.waits = true
			l.Mode = c.modeAfterCrash(&run)
		}
	}
	if run.Attempt > 1 {
		c.retries[id] = &run
	}
	c.live[id] = live
	return l, nil
}

// modeAfterCrash says how a run of a job that lets only one run go at a time is launched again. One
// that may have been going gets its turn; one that is yet to come is skipped if it overlaps.
func (c *Core) modeAfterCrash(run *job.Run) Mode {
	switch {
	case run.Attempt > 1:
		return ModeHeld
	case run.ID.IsManual() || run.Due <= job.Millis(c.wheel.Now()):
		return ModeWait
	default:
		return ModeSkip
	}
}
