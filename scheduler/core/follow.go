package core

import (
	"fmt"
	"strings"

	"github.com/carillon-io/carillon/instant"
	"github.com/carillon-io/carillon/job"
)

// A core follows a leader by applying the rows of the leader's commits. It decides nothing, because rows are results.
// After each commit its state is as if it had been loaded from the store, so that it can lead at once.

// Follow applies a commit of the leader at an instant. After an error the core cannot be used any more. The error
// means that the rows and the memory may differ by part of a commit, and there is no way back.
func (c *Core) Follow(batch []byte, now instant.Millis) error {
	if c.ids == nil {
		c.ids = newJobIndex(&c.rows, &c.numbers)
	}
	c.now = now
	if err := job.Changes(batch, c.followChange); err != nil {
		return err
	}
	c.out.Uses = c.tenants.settle(c.out.Uses[:0])
	c.KeepTime(now)
	return nil
}

// followChange applies one row of the leader. Most kinds of rows are not kept in memory.
func (c *Core) followChange(ch job.Change) (err error) {
	kind := job.Kind(ch.Key[0])
	switch ch.Op {
	case job.OpPut:
		err = c.followPut(kind, ch.Key, ch.Value)
	case job.OpDelete:
		err = c.followDelete(kind, ch.Key)
	default:
		err = checkRange(ch)
	}
	if err != nil {
		return fmt.Errorf("scheduler: follow a row of kind %d: %w", kind, err)
	}
	return nil
}

// followPut is a flat switch over the kinds of row that are in memory.
func (c *Core) followPut(kind job.Kind, key, value []byte) error {
	switch kind {
	case job.KindMeta:
		return c.takeMeta(key, value)
	case job.KindCalendar:
		return c.followCalendar(key, value)
	case job.KindProfile:
		return c.takeProfile(key, value)
	case job.KindTimer:
		return c.followTimer(key, value)
	case job.KindName:
		return c.takeName(key, value)
	case job.KindRun:
		return c.takeRun(key, value)
	case job.KindStreak:
		return c.takeStreak(key, value)
	case job.KindDebt:
		return c.takeDebt(key, value)
	case job.KindOutbox:
		return c.takeNotice(key, value)
	case job.KindDeleted:
		return c.takeDeleted(key, value)
	}
	return nil
}

// followDelete is a flat switch over the kinds of row that are in memory.
func (c *Core) followDelete(kind job.Kind, key []byte) error {
	switch kind {
	case job.KindMeta:
		if node, ok := strings.CutPrefix(string(key[1:]), MetaReader); ok {
			c.keepReader(node, 0)
		}
		if tenant, ok := strings.CutPrefix(string(key[1:]), metaBytesOf); ok {
			c.tenants.takeBytes(tenant, 0)
		}
	case job.KindCalendar:
		tenant, name, err := job.ParseCalendarKey(key)
		c.dropCalendar(tenant, name)
		return err
	case job.KindProfile:
		n, err := job.ParseProfileKey(key)
		c.profiles.drop(n)
		return err
	case job.KindName:
		tenant, name, err := job.ParseNameKey(key)
		if err == nil {
			c.followUnname(tenant, name)
		}
		return err
	case job.KindRun:
		id, err := job.ParseRunKey(key)
		c.dropRun(id)
		return err
	case job.KindTimer, job.KindStreak, job.KindDebt, job.KindDeleted:
		id, err := job.ParseJobKey(key)
		c.dropOf(kind, id)
		return err
	case job.KindOutbox:
		c.outbox -= min(c.outbox, 1)
	}
	return nil
}

// checkRange refuses a range deletion of rows that are in memory: leaders delete those one by one. Otherwise memory
// would keep rows that the store has lost, and no later row would correct that.
func checkRange(ch job.Change) error {
	kind := job.Kind(ch.Key[0])
	switch kind {
	case job.KindHistory, job.KindDead, job.KindAudit, job.KindRunPayload, job.KindOnce:
		if len(ch.Value) > 0 && ch.Value[0] == ch.Key[0] {
			return nil
		}
	}
	return fmt.Errorf("the range from %x to %x is dropped; want days of the history, of the audit log, of payloads or of idempotency keys", ch.Key, ch.Value)
}

// followTimer applies the hot row of a job, new or not. The counts of jobs by profile must be exact, because a leader
// deletes the row of a profile with its last job.
func (c *Core) followTimer(key, value []byte) error {
	id, t, err := readTimer(key, value)
	if err == nil {
		err = c.checkProfile(id, t.Profile)
	}
	if err != nil {
		return err
	}
	s := c.ids.find(id)
	var r *hotRow
	if s == 0 {
		s, r = c.rows.alloc(id)
		c.ids.add(id, s)
	} else {
		if r = c.rows.row(s); r.id != id {
			return fmt.Errorf("job %s has the counter of job %s", id, r.id)
		}
		c.profiles.get(r.profile).refs--
	}
	r.setTimerRow(t)
	c.rows.note(r)
	c.profiles.get(t.Profile).refs++
	c.armLoaded(s, r)
	return nil
}

// dropOf forgets a row of a kind of which each job has one.
func (c *Core) dropOf(kind job.Kind, id job.ID) {
	switch kind {
	case job.KindStreak:
		delete(c.streaks, id)
	case job.KindDebt:
		c.forgetDebt(id)
	case job.KindDeleted:
		c.deleted.remove(id)
	case job.KindTimer:
		s := c.seatOf(id)
		if s == 0 {
			return
		}
		r := c.rows.row(s)
		c.disarm(r)
		c.profiles.get(r.profile).refs--
		c.ids.remove(id)
		c.tenants.forget(id)
		c.rows.release(s)
	}
}

// followUnname forgets the name of a job that is being deleted.
func (c *Core) followUnname(tenant, name string) {
	h := c.hash(tenant, name)
	if c.names.find(h) != 0 {
		c.names.remove(h)
		c.tenants.dropJob(c.tenants.of(tenant))
	}
}

// dropRun forgets a live run that is over. Which tenant's share it used does not matter: a core counts shares only
// from when it leads.
func (c *Core) dropRun(id job.RunID) {
	live := c.live[id]
	c.unwatch(&live)
	delete(c.live, id)
	delete(c.retries, id)
}

// followCalendar applies a calendar, and compiles the schedules again that refer to it.
func (c *Core) followCalendar(key, value []byte) error {
	tenant, name, err := job.ParseCalendarKey(key)
	if err == nil {
		err = c.takeCalendar(key, value)
	}
	if err != nil {
		return err
	}
	c.profiles.expire(calendarRef(tenant, name))
	return nil
}
