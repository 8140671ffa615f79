package dispatch

import (
	"fmt"
	"math"
	"sync"
	"sync/atomic"

	"github.com/carillon-io/carillon/fair"
	"github.com/carillon-io/carillon/job"
)

const (
	// laneBytesMax bounds the payload bytes of all attempts of a lane: 128 payloads of the largest size.
	laneBytesMax = 64 << 20
	// kindBytesMax bounds the payload bytes of all attempts of a kind, and so the memory that targets which hang
	// can occupy.
	kindBytesMax = 512 << 20
	// tenantShare is the number of quarters of a kind's bounds that one tenant may use. The last quarter is
	// then free at once for another tenant.
	tenantShare = 3
)

// load is the number and the payload bytes of a set of attempts, or a bound for both.
type load struct {
	attempts int
	bytes    int64
}

// hasRoom reports whether another attempt with the given payload bytes fits into the bound most. A
// single attempt always fits, so that a payload larger than the bound can be sent.
func (l load) hasRoom(most load, weight int64) bool {
	return l.attempts < most.attempts && (l.attempts == 0 || l.bytes+weight <= most.bytes)
}

// add adds a number of attempts of the same weight; a negative number subtracts them.
func (l *load) add(attempts int, weight int64) {
	l.attempts += attempts
	l.bytes += int64(attempts) * weight
}

// lane holds the places of one tenant at one target. It exists while one of them is taken or asked for.
type lane struct {
	key    job.Lane
	kind   *kindPlaces
	tenant *tenantPlaces
	most   load // fixed when the lane is created
	taken  load

	asks   fair.FIFO[ask] // at most one of each engine
	queued bool           // it has a free place for its first ask, but waits for one of its tenant or its kind
}

// tenantPlaces holds what the lanes of one tenant and one kind share. It exists while one of these lanes
// does.
type tenantPlaces struct {
	name    string
	lanes   int
	taken   load
	total   *tenantTotal     // of all kinds; nil: tenants have no such bound
	waiting fair.FIFO[*lane] // the lanes that are queued, in the order of their turns
	queued  bool             // it is in the turns of its kind
}

// kindPlaces holds what the lanes of a kind share.
type kindPlaces struct {
	kind        int  // its index
	most, share load // bounds of the whole kind, and of one tenant
	taken       load
	tenants     map[string]*tenantPlaces
	turns       fair.FIFO[*tenantPlaces] // tenants with a queued lane, and room in their share for its first ask
}

// places counts the places at targets. It calls back callers that found no place when one is free. It is
// safe for concurrent use.
//
// There are three levels, because each protects something else: the lane's bound protects the target,
// the tenant's share protects the other tenants, and the kind's bound protects this process's memory and
// sockets. A place is taken on all three levels or on none. The queues are not ordered by time across
// lanes: tenants take turns, then a tenant's lanes, then a lane's asks, so that a tenant with many
// launches cannot delay another by more than one turn.
//
// Invariant: a lane with an ask and room for it is queued. A tenant with queued lanes and room in its
// share for the first of them is in turns, once. While turns is not empty, the kind has no room for the
// first ask of its front. So a free place never waits while an ask could use it.
type places struct {
	perTarget    int
	streamWindow int
	inFlight     func(tenant string) int // bound of a tenant's attempts at all its targets; nil: there is none

	mu    sync.Mutex
	lanes map[job.Lane]*lane
	most  int // the largest length that lanes had; a Go map never shrinks, so an empty one that was large is replaced
	kinds [job.TargetHandler + 1]kindPlaces

	asked atomic.Int64 // asks that wait

	totals map[string]*tenantTotal // of the tenants with a lane; empty without inFlight
}

// newPlaces returns the places for the bounds in the options.
func newPlaces(o Options) *places {
	s := &places{perTarget: o.ConcurrencyPerTarget, streamWindow: o.StreamWindow, inFlight: o.InFlight, lanes: make(map[job.Lane]*lane), totals: make(map[string]*tenantTotal)}
	for kind := range s.kinds {
		most := load{o.InFlightMax, kindBytesMax}
		switch job.TargetKind(kind) {
		case job.TargetNATS:
			most.attempts = o.PublishMax
		case job.TargetHTTP:
			most.attempts = o.HTTPMax
		}
		share := load{max(1, most.attempts*tenantShare/4), most.bytes * tenantShare / 4}
		s.kinds[kind] = kindPlaces{kind: kind, most: most, share: share, tenants: make(map[string]*tenantPlaces)}
	}
	return s
}

// reserve takes a place and returns true. If no place is free, it keeps room as an ask and returns
// false.
func (s *places) reserve(key job.Lane, weight int64, room func() bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.open(key)
	isFree := l.asks.Len() == 0 && l.taken.hasRoom(l.most, weight)
	if isFree && l.kind.turns.Len() == 0 && l.tenant.hasRoom(l.kind, weight) && l.kind.taken.hasRoom(l.kind.most, weight) {
		l.take(1, weight)
		return true
	}
	l.asks.Push(ask{weight, room})
	s.asked.Add(1)
	l.queueUp()
	return false
}

// find returns the lane of a key. It panics unless a place in it is taken, because the caller must have
// reserved one.
func (s *places) find(key job.Lane) *lane {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.lanes[key]
	if l == nil || l.taken.attempts == 0 {
		panic(fmt.Sprintf("dispatch: no place is reserved in lane %+v", key))
	}
	return l
}

// release gives a place back, and calls room for each ask that gets a place by it. It calls them without
// the mutex, and takes back the places that they do not accept.
func (s *places) release(l *lane, weight int64) {
	back := []grant{{ask{weight: weight}, l}}
	for len(back) > 0 {
		last := back[len(back)-1]
		back = back[:len(back)-1]
		for _, g := range s.free(last.lane, last.weight) {
			if !g.room() {
				back = append(back, g)
			}
		}
	}
}

// free records that a place is no longer used, takes the free places for asks whose turn it is, and
// returns those grants.
func (s *places) free(l *lane, weight int64) (grants []grant) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l.take(-1, weight)
	l.queueUp()
	s.kindsAfter(l.kind, l.tenant, func(k *kindPlaces) {
		for next := k.next(); next != nil; next = k.next() {
			grants = append(grants, s.grant(next))
			next.queueUp()
		}
	})
	s.forget(l)
	return grants
}

// next takes a place for the first ask of the lane whose turn it is, and returns the lane. It returns
// nil if no place is free or no lane waits for one.
func (k *kindPlaces) next() *lane {
	for k.turns.Len() > 0 {
		t := k.turns.Front()
		if t.waiting.Len() > 0 && !k.taken.hasRoom(k.most, t.weight()) {
			return nil
		}
		k.turns.Pop()
		t.queued = false
		if t.waiting.Len() == 0 || !t.hasRoom(k, t.weight()) {
			continue
		}
		l := t.waiting.Pop()
		l.queued = false
		l.take(1, l.asks.Front().weight)
		t.queueUp(k)
		return l
	}
	return nil
}

// open returns the lane of a key, and creates it if necessary.
func (s *places) open(key job.Lane) *lane {
	if l := s.lanes[key]; l != nil {
		return l
	}
	k := &s.kinds[0]
	if int(key.Kind) < len(s.kinds) {
		k = &s.kinds[key.Kind]
	}
	t := k.tenants[key.Tenant]
	if t == nil {
		t = &tenantPlaces{name: key.Tenant}
		k.tenants[key.Tenant] = t
		s.addTotal(t, k)
	}
	t.lanes++
	l := &lane{key: key, kind: k, tenant: t, most: load{s.limit(key), laneBytesMax}}
	s.lanes[key] = l
	s.most = max(s.most, len(s.lanes))
	return l
}

// limit returns the number of places of a lane.
func (s *places) limit(key job.Lane) int {
	switch {
	case key.Kind == job.TargetNATS:
		return math.MaxInt
	case key.Limit > 0:
		return int(key.Limit)
	case key.Kind == job.TargetJetStream:
		return s.streamWindow
	}
	return s.perTarget
}

// take counts attempts of the same weight as begun in the lane, its tenant and its kind; a negative
// number counts them as ended.
func (l *lane) take(attempts int, weight int64) {
	l.taken.add(attempts, weight)
	l.tenant.taken.add(attempts, weight)
	l.kind.taken.add(attempts, weight)
	l.tenant.total.add(attempts)
}

// queueUp appends a lane to the queue of its tenant, if it has an ask and a free place for it.
func (l *lane) queueUp() {
	if l.asks.Len() == 0 || l.queued || !l.taken.hasRoom(l.most, l.asks.Front().weight) {
		return
	}
	l.queued = true
	l.tenant.waiting.Push(l)
	l.tenant.queueUp(l.kind)
}

// weight returns the payload bytes of the first ask of the first queued lane.
func (t *tenantPlaces) weight() int64 {
	first := t.waiting.Front()
	return first.asks.Front().weight
}

// queueUp appends a tenant to the turns of its kind, if it has a queued lane and room in its share for
// that lane's first ask.
func (t *tenantPlaces) queueUp(k *kindPlaces) {
	if t.queued || t.waiting.Len() == 0 || !t.hasRoom(k, t.weight()) {
		return
	}
	t.queued = true
	k.turns.Push(t)
}

// forget removes a lane that is neither used nor asked for, and its tenant with the last lane.
func (s *places) forget(l *lane) {
	if l.taken.attempts > 0 || l.asks.Len() > 0 {
		return
	}
	delete(s.lanes, l.key)
	if l.tenant.lanes--; l.tenant.lanes == 0 {
		delete(l.kind.tenants, l.tenant.name)
		s.dropTotal(l.tenant, l.kind)
	}
	if len(s.lanes) == 0 && s.most > spareMax {
		s.lanes, s.most = make(map[job.Lane]*lane), 0
	}
}

// count returns the number of lanes.
func (s *places) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.lanes)
}
