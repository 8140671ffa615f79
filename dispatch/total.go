package dispatch

import "github.com/carillon-io/carillon/job"

// tenantTotal counts the attempts of a tenant at all its targets, of every kind, for the bound of its quota. It exists
// while the tenant has a lane, and only if there are such bounds at all. An attempt beyond the bound waits like one beyond
// the share of a kind: in the order of its lane, and the lanes of the tenant take turns.
//
// A bound is at least 1, so an attempt waits only while another one is under way, whose end gives it the place. A bound
// that has become larger is used when [places.review] is called.
type tenantTotal struct {
	most   func(tenant string) int // 0: no bound
	name   string
	taken  int
	places [job.TargetHandler + 1]*tenantPlaces // by kind; nil: no lane of the kind
}

// hasRoom reports whether the tenant may have another attempt. It is true for nil.
func (t *tenantTotal) hasRoom() bool {
	if t == nil {
		return true
	}
	most := t.most(t.name)
	return most == 0 || t.taken < most
}

// add adds a number of attempts; a negative number subtracts them.
func (t *tenantTotal) add(attempts int) {
	if t != nil {
		t.taken += attempts
	}
}

// hasRoom reports whether the tenant has room for another attempt with the given payload bytes, in its share of the kind
// and in its quota.
func (t *tenantPlaces) hasRoom(k *kindPlaces, weight int64) bool {
	return t.taken.hasRoom(k.share, weight) && t.total.hasRoom()
}

// addTotal gives the places of a tenant in a kind the count that they share with those in the other kinds.
func (s *places) addTotal(t *tenantPlaces, k *kindPlaces) {
	if s.inFlight == nil {
		return
	}
	total := s.totals[t.name]
	if total == nil {
		total = &tenantTotal{most: s.inFlight, name: t.name}
		s.totals[t.name] = total
	}
	total.places[k.kind] = t
	t.total = total
}

// dropTotal forgets the count of a tenant with its last places.
func (s *places) dropTotal(t *tenantPlaces, k *kindPlaces) {
	if t.total == nil {
		return
	}
	t.total.places[k.kind] = nil
	for _, other := range t.total.places {
		if other != nil {
			return
		}
	}
	delete(s.totals, t.name)
}

// kindsAfter calls fn for the kinds in which a place of a tenant in the kind k may now be free: k alone, or if the tenant
// has a total, all of them, those after k first, so that each kind gets its turn.
func (s *places) kindsAfter(k *kindPlaces, t *tenantPlaces, fn func(*kindPlaces)) {
	if t.total == nil {
		t.queueUp(k)
		fn(k)
		return
	}
	for i := range len(s.kinds) {
		other := &s.kinds[(k.kind+1+i)%len(s.kinds)]
		if places := t.total.places[other.kind]; places != nil {
			places.queueUp(other)
		}
		fn(other)
	}
}

// review gives the attempts that wait the places that larger bounds of tenants have made. It calls their room without the
// mutex, as release does.
func (s *places) review() {
	for _, g := range s.reviewTotals() {
		if !g.room() {
			s.release(g.lane, g.weight)
		}
	}
}

func (s *places) reviewTotals() (grants []grant) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.kinds {
		k := &s.kinds[i]
		for _, total := range s.totals {
			if t := total.places[k.kind]; t != nil {
				t.queueUp(k)
			}
		}
		for next := k.next(); next != nil; next = k.next() {
			grants = append(grants, s.grant(next))
			next.queueUp()
		}
	}
	return grants
}

// inFlightOf returns how many attempts of a tenant are under way; 0 if tenants have no bounds.
func (s *places) inFlightOf(tenant string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t := s.totals[tenant]; t != nil {
		return t.taken
	}
	return 0
}

// InFlight returns how many attempts of a tenant have a place at their targets now. It returns 0 without
// [Options.InFlight].
func (d *Dispatcher) InFlight(tenant string) int { return d.places.inFlightOf(tenant) }
