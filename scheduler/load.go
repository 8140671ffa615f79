package scheduler

import (
	"cmp"
	"fmt"
	"slices"
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
//
// The second result are the runs that are with workers who are to report: they have their turns.
func (c *Core) Load(from scanner, lsn uint64, hash func(tenant, name string) nameHash) ([]Launch, []job.RunID, error) {
	c.lsn, c.fenceMin = lsn, lsn
	c.onces.since, c.redone.since = lsn, lsn
	c.ahead.loaded = job.Millis(c.wheel.Now()).Add(c.settings.Lead)
	var launches []Launch
	var going []job.RunID
	load := []struct {
		kind job.Kind
		row  func(key, value []byte) error
	}{
		{job.KindMeta, c.loadMeta},
		{job.KindCalendar, c.loadCalendar},
		{job.KindProfile, c.loadProfile},
		{job.KindTimer, c.loadTimer},
		{job.KindName, c.loadName(hash)},
		{job.KindRun, func(key, value []byte) error {
			l, err := c.loadRun(key, value)
			live := c.live[l.Run]
			switch {
			case live.watch == 0:
				launches = append(launches, l)
			case live.waits:
				going = append(going, l.Run)
			}
			return err
		}},
		{job.KindStreak, c.loadStreak},
		{job.KindDebt, c.loadDebt},
		{job.KindOutbox, func(_, _ []byte) error { c.outbox++; return nil }},
	}
	for _, l := range load {
		low := []byte{byte(l.kind)}
		err := scanAhead(from, low, job.PrefixEnd(low), l.row)
		if err != nil {
			return nil, nil, fmt.Errorf("scheduler: load rows of kind %d: %w", l.kind, err)
		}
	}
	c.profiles.seal()
	slices.SortFunc(launches, byDue)
	return launches, going, nil
}

// byDue orders launches by due time. Those of one job that are due at the same time are in the order in
// which they were asked for: the ticks in theirs, and manual runs in that of their numbers.
func byDue(a, b Launch) int {
	return cmp.Or(
		cmp.Compare(a.Due, b.Due), cmp.Compare(a.Run.Job, b.Run.Job), cmp.Compare(a.Run.Seq, b.Run.Seq), cmp.Compare(a.Run.At, b.Run.At),
	)
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
	case metaUsualRate:
		c.pace.restore(float64(n))
	case metaReplan:
		c.replanning = n != 0
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
	c.profiles.restore(n, p, c.calendarOf)
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
