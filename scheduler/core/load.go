package core

import (
	"fmt"
	"sort"
	"strings"

	"github.com/carillon-io/carillon/job"
)

// Scanner is the part of a store from which a core is loaded. It is an interface so that a start can read rows in
// another goroutine than the one that adds them.
type Scanner interface {
	// Scan calls fn for the rows in [low, high), in the order of keys, until fn returns an error. The slices are valid
	// only until fn returns. A core asks for all rows of the range: more is always true.
	Scan(low, high []byte, fn func(key, value []byte) (more bool, err error)) error
}

// Load fills an empty core from the store and arms the wheel. Afterwards the core stands by: it can follow a leader,
// or lead. The order of kinds matters: schedules need the calendars to compile, timers need their profiles, and names,
// runs, streaks and debts need the seats of their jobs. After an error the core cannot be used.
func (c *Core) Load(from Scanner, h Hasher) error {
	c.useHasher(h)
	c.profiles.isLoading = true
	raw := func(row func(key, value []byte) error) func() Block {
		return func() Block { return &rawBlock{row: row} }
	}
	load := []struct {
		kind  job.Kind
		empty func() Block
	}{
		{job.KindMeta, raw(c.takeMeta)},
		{job.KindCalendar, raw(c.takeCalendar)},
		{job.KindProfile, func() Block { return &profileBlock{core: c} }},
		{job.KindTimer, func() Block { return &timerBlock{core: c} }},
		{job.KindName, func() Block { return &nameBlock{core: c} }},
		{job.KindRun, raw(c.takeRun)},
		{job.KindStreak, raw(c.takeStreak)},
		{job.KindDebt, raw(c.takeDebt)},
		{job.KindOutbox, raw(c.takeNotice)},
		{job.KindDeleted, raw(c.takeDeleted)},
	}
	for _, l := range load {
		if l.kind == job.KindName {
			c.rows.spare = nil
			spread(from, placeParts, func(part int) { c.names.reserve(part, c.rows.count) })
		}
		low := []byte{byte(l.kind)}
		if err := scanBlocks(from, low, job.PrefixEnd(low), l.empty); err != nil {
			return fmt.Errorf("scheduler: load rows of kind %d: %w", l.kind, err)
		}
	}
	spread(from, placeParts, c.names.placeStaged)
	spread(from, placeParts, c.profiles.byValue.placeStaged)
	c.profiles.seal()
	if c.settings.Shards > 1 {
		c.countStored()
	}
	c.out.Uses = c.tenants.settle(c.out.Uses[:0])
	c.watches.recallAges(c.retries)
	return nil
}

// The functions named take... add or replace a row as the store has it. Loading and following a leader both use them.

// takeMeta applies one named number. A name that this release does not know is ignored, so that a newer release can
// add some; a change that must not be ignored raises the version of the rows, and CheckRowsVersion refuses that.
func (c *Core) takeMeta(key, value []byte) error {
	n, err := job.DecodeMeta(value)
	switch string(key[1:]) {
	case MetaEpoch:
		c.epoch = n
	case MetaNextID:
		c.numbers.next = job.ID(n)
	case job.MetaSlotsFrom:
		c.numbers.slotsFrom = job.ID(n)
	case job.MetaIndexed:
		c.index.upto = job.ID(n)
	case metaPrunedDay:
		c.prunedDay = uint32(n)
	case metaUsualRate:
		c.pace.restore(float64(n))
	case MetaReplan:
		c.replanning = n != 0
	case metaCounted:
		c.tenants.count.epoch = n
	case MetaTZData:
		c.zones.version = n
	case MetaRows:
		if err == nil {
			err = job.CheckRowsVersion(n)
		}
		c.rowsVersion = byte(n)
	default:
		if zone, ok := strings.CutPrefix(string(key[1:]), MetaZone); ok {
			c.zones.keep(zone, n)
		}
		if node, ok := strings.CutPrefix(string(key[1:]), MetaReader); ok {
			c.keepReader(node, byte(n))
		}
		if tenant, ok := strings.CutPrefix(string(key[1:]), metaBytesOf); ok {
			c.tenants.takeBytes(tenant, n)
		}
	}
	return err
}

// takeProfile adds a profile. A schedule that does not compile is kept with its error: its jobs fail when they are
// decided, one by one and visibly, and the start succeeds.
func (c *Core) takeProfile(key, value []byte) error {
	n, p, err := readProfile(key, value)
	if err == nil {
		c.keepProfile(n, &p, c.profiles.hashOf(&p))
	}
	return err
}

// readProfile decodes a profile and its number.
func readProfile(key, value []byte) (n uint32, p job.Profile, err error) {
	if n, err = job.ParseProfileKey(key); err == nil {
		p, err = job.DecodeProfile(value)
	}
	return n, p, err
}

// keepProfile adds a profile that was read.
func (c *Core) keepProfile(n uint32, p *job.Profile, h NameHash) {
	c.zones.note(p.Spec)
	c.profiles.restore(n, p, h)
}

// takeNotice counts a notice. Only the number is in memory, for the bound of the outbox; the announcer reads the rows.
func (c *Core) takeNotice(_, _ []byte) error {
	c.outbox++
	return nil
}

// loadTimer adds a job from its timer. The job must not be in the table yet.
func (c *Core) loadTimer(id job.ID, t *job.Timer) error {
	if err := c.checkProfile(id, t.Profile); err != nil {
		return err
	}
	s, r := c.rows.alloc(id)
	if c.firstSlotted == 0 && c.numbers.hasSlot(id) {
		c.firstSlotted = s
	}
	r.setTimerRow(*t)
	c.rows.note(r)
	c.profiles.refer(t.Profile)
	c.armLoaded(s, r)
	return nil
}

// readTimer decodes a timer and the id of its job.
func readTimer(key, value []byte) (job.ID, job.Timer, error) {
	id, err := job.ParseJobKey(key)
	if err != nil {
		return 0, job.Timer{}, err
	}
	t, err := job.DecodeTimer(value)
	if err != nil {
		return 0, job.Timer{}, fmt.Errorf("job %s: %w", id, err)
	}
	return id, t, nil
}

// checkProfile checks that the profile of a timer exists. Without one, a later decision of the job could panic, so the
// start refuses the store.
func (c *Core) checkProfile(id job.ID, profile uint32) error {
	if !c.profiles.has(profile) {
		return fmt.Errorf("job %s: profile %d is missing", id, profile)
	}
	return nil
}

// seatOf returns the seat of a job by its id, or 0 if there is none. It must not be called once the core leads.
func (c *Core) seatOf(id job.ID) seat {
	if c.ids == nil {
		return c.rowOf(id)
	}
	s := c.ids.find(id)
	if s != 0 && c.rows.row(s).id != id {
		return 0
	}
	return s
}

// rowOf returns the seat of a job by its id while the core is being loaded. Seats are then in the order of ids,
// because rows are. Ids count, so the first guess is right unless jobs were deleted.
func (c *Core) rowOf(id job.ID) seat {
	n := int(c.rows.next)
	if s := c.guess(id); s < c.rows.next && c.rows.row(s).id == id {
		return s
	}
	i := 1 + sort.Search(n-1, func(i int) bool { return c.rows.row(seat(i+1)).id >= id })
	if i < n && c.rows.row(seat(i)).id == id {
		return seat(i)
	}
	return 0
}

// guess returns the seat of a job if no job before it was deleted. Ids without slots and ids with slots count
// separately, each from the first job of their kind. The result may be beyond the table.
func (c *Core) guess(id job.ID) seat {
	first := seat(1)
	if c.numbers.hasSlot(id) {
		first = max(first, c.firstSlotted)
	}
	if first >= c.rows.next || id < c.rows.row(first).id {
		return c.rows.next
	}
	ahead := c.numbers.ordinal(id) - c.numbers.ordinal(c.rows.row(first).id)
	return first + seat(min(ahead, uint64(c.rows.next)))
}

// takeName adds the name of a job. The job's timer must have been loaded before.
func (c *Core) takeName(key, value []byte) error {
	tenant, name, err := job.ParseNameKey(key)
	if err != nil {
		return err
	}
	id, err := job.DecodeName(value)
	if err != nil {
		return err
	}
	s := c.seatOf(id)
	if s == 0 {
		return fmt.Errorf("job %s (%s of %s) has a name but no timer", id, name, tenant)
	}
	c.names.add(c.hash(tenant, name), s)
	c.tenants.addJob(c.rows.row(s), c.tenants.of(tenant))
	return nil
}
