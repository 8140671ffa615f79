package core

import (
	"fmt"

	"github.com/carillon-io/carillon/job"
)

// CheckIndex derives the index of lists from the definitions and the timers in a store that has all commits of the core,
// and returns what is wrong with the rows of the index. It is for tests and simulations.
func (c *Core) CheckIndex(from Scanner) error {
	want := make(map[string]job.ID)
	tenants := make(map[job.ID]job.TenantHash)
	err := scanKind(from, job.KindJob, func(key, value []byte) error {
		id, err := job.ParseJobKey(key)
		if err != nil || id >= c.index.upto {
			return err
		}
		rec, err := job.DecodeRecord(id, value)
		tenants[id] = job.HashTenant(rec.Def.Tenant)
		for _, label := range rec.Def.Labels {
			want[string(job.AppendLabelKey(nil, job.HashLabel(rec.Def.Tenant, label), rec.Def.Name))] = id
		}
		return err
	})
	if err != nil {
		return err
	}
	err = scanKind(from, job.KindTimer, func(key, value []byte) error {
		id, err := job.ParseJobKey(key)
		if err != nil || id >= c.index.upto {
			return err
		}
		timer, err := job.DecodeTimer(value)
		if state := timer.Flags.StateTrait(); state != 0 {
			want[string(job.AppendTraitKey(nil, tenants[id], state, id))] = id
		}
		if timer.Flags.Is(job.FlagDead) {
			want[string(job.AppendTraitKey(nil, tenants[id], job.TraitDead, id))] = id
		}
		return err
	})
	if err != nil {
		return err
	}
	for _, kind := range []job.Kind{job.KindLabel, job.KindTrait} {
		err := scanKind(from, kind, func(key, _ []byte) error {
			if _, ok := want[string(key)]; !ok {
				return fmt.Errorf("the index has the row %x, which no job gives it", key)
			}
			delete(want, string(key))
			return nil
		})
		if err != nil {
			return err
		}
	}
	for key, id := range want {
		return fmt.Errorf("the index does not have the row %x of job %s", key, id)
	}
	return nil
}

// scanKind calls fn for all rows of a kind.
func scanKind(from Scanner, kind job.Kind, fn func(key, value []byte) error) error {
	low := []byte{byte(kind)}
	return from.Scan(low, job.PrefixEnd(low), func(key, value []byte) (bool, error) { return true, fn(key, value) })
}
