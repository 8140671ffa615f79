package access

import (
	"maps"
	"slices"
	"time"
)

// Use is what a tenant uses of one bound of its quota.
type Use struct {
	Tenant, Quota string // the quota as the file names it
	Used, Limit   float64
}

// Uses returns what the tenants with such a quota use of rate, streams, in_flight and calendars, in the order of their
// names. Of a rate it is how many of the requests of a second are used up; more than the limit are a debt. of returns the
// use of the last two, which others count. A nil Keeper has none.
func (k *Keeper) Uses(of func(tenant, quota string) float64) (list []Use) {
	if k == nil {
		return nil
	}
	t := k.Table()
	for _, name := range slices.Sorted(maps.Keys(t.tenants)) {
		q := &t.tenants[name].Quota
		if q.Rate > 0 {
			used, _ := k.rates.use(name, q.Rate, time.Now())
			list = append(list, Use{name, "rate", used, q.Rate})
		}
		if q.Streams > 0 {
			list = append(list, Use{name, "streams", float64(k.streams.of(name)), float64(q.Streams)})
		}
		if q.InFlight > 0 {
			list = append(list, Use{name, "in_flight", of(name, "in_flight"), float64(q.InFlight)})
		}
		if q.Calendars > 0 {
			list = append(list, Use{name, "calendars", of(name, "calendars"), float64(q.Calendars)})
		}
	}
	return list
}

// Limited returns how many requests of each tenant were refused because of its rate, since the tenant has one. A nil Keeper
// has none.
func (k *Keeper) Limited() map[string]uint64 {
	by := make(map[string]uint64)
	if k == nil {
		return by
	}
	t := k.Table()
	for name, one := range t.tenants {
		if one.Quota.Rate > 0 {
			_, by[name] = k.rates.use(name, one.Quota.Rate, time.Now())
		}
	}
	return by
}
