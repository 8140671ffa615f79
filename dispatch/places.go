package dispatch

import (
	"fmt"
	"math"
	"sync"

	"github.com/carillon-io/carillon/fair"
	"github.com/carillon-io/carillon/job"
)

const (
	// laneBytesMax bounds the payload bytes that a lane has with the dispatcher.
	laneBytesMax = 64 << 20
	// kindBytesMax bounds the payload bytes that all lanes of a kind have.
	kindBytesMax = 512 << 20
	// tenantShare is how many quarters of what a kind has one tenant may use: the rest is there at once when
	// another comes.
	tenantShare = 3
)

// load is what attempts use up, or a bound of that.
type load struct {
	attempts int
	bytes    int64
}

// hasRoom reports whether an attempt of a weight fits. One alone always does.
func (l load) hasRoom(most load, weight int64) bool {
	return l.attempts < most.attempts && (l.attempts == 0 || l.bytes+weight <= most.bytes)
}

func (l *load) add(attempts int, weight int64) {
	l.attempts += attempts
	l.bytes += int64(attempts) * weight
}

// lane has the places of one tenant at one target. It exists while one is taken or asked for.
type lane struct {
	key    job.Lane
	kind   *kindPlaces
	tenant *tenantPlaces
	most   load
	taken  load

	asks   fair.FIFO[ask] // one of each engine that launches are of, at the most
	queued bool           // it has a place for the first ask, and waits for one of its tenant's or its kind's
}

// ask is what is to be called when there is a place.
type ask struct {
	weight int64 // of the attempt
	room   func() bool
}

// tenantPlaces is what the lanes of one tenant and one kind share. It exists while one of them does.
type tenantPlaces struct {
	name    string
	lanes   int
	taken   load
	waiting fair.FIFO[*lane] // those that are queued
	queued  bool             // it is in the turns of its kind
}

// kindPlaces is what the lanes of a kind share.
type kindPlaces struct {
	most, share load // of all, and of a tenant
	taken       load
	tenants     map[string]*tenantPlaces
	turns       fair.FIFO[*tenantPlaces] // have a lane that waits, and room in their share for it
}

// places counts the places at targets, and calls back when there is one for who asked. It is safe for
// concurrent use.
//
// Invariant: a lane that asks and has room is queued; a tenant with queued lanes and room in its share for
// the first is in turns, once; while anything is in turns, there is no room in the kind for the first.
type places struct {
	perTarget    int
	streamWindow int

	mu    sync.Mutex
	lanes map[job.Lane]*lane
	most  int // that lanes ever held; a map does not shrink
	kinds [job.TargetHandler + 1]kindPlaces
}

func newPlaces(o Options) *places {
	s := &places{perTarget: o.ConcurrencyPerTarget, streamWindow: o.StreamWindow, lanes: make(map[job.Lane]*lane)}
	for kind := range s.kinds {
		most := load{o.InFlightMax, kindBytesMax}
		if job.TargetKind(kind) == job.TargetNATS {
			most.attempts = o.PublishMax
		}
		share := load{max(1, most.attempts*tenantShare/4), most.bytes * tenantShare / 4}
		s.kinds[kind] = kindPlaces{most: most, share: share, tenants: make(map[string]*tenantPlaces)}
	}
	return s
}

// reserve takes a place, or, if there is none, keeps room to be called with one.
func (s *places) reserve(key job.Lane, weight int64, room func() bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.open(key)
	isFree := l.asks.Len() == 0 && l.taken.hasRoom(l.most, weight)
	if isFree && l.kind.turns.Len() == 0 && l.tenant.taken.hasRoom(l.kind.share, weight) && l.kind.taken.hasRoom(l.kind.most, weight) {
		l.take(1, weight)
		return true
	}
	l.asks.Push(ask{weight, room})
	l.queueUp()
	return false
}

// find returns the lane of a key, in which the caller has a place.
func (s *places) find(key job.Lane) *lane {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.lanes[key]
	if l == nil || l.taken.attempts == 0 {
		panic(fmt.Sprintf("dispatch: no place is reserved in lane %+v", key))
	}
	return l
}

// grant is a place that was taken for one that had asked for it.
type grant struct {
	ask
	lane *lane
}

// release gives a place back, and calls those for whom there is one now, without the mutex.
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

// free takes note that a place is not used any more, and returns whom to call.
func (s *places) free(l *lane, weight int64) (grants []grant) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l.take(-1, weight)
	l.queueUp()
	l.tenant.queueUp(l.kind)
	for next := l.kind.next(); next != nil; next = l.kind.next() {
		grants = append(grants, grant{next.asks.Pop(), next})
		next.queueUp()
	}
	s.forget(l)
	return grants
}

// next takes a place for the first ask of the lane whose turn it is, and returns the lane; nil if there is no
// place, or no lane that waits for one.
func (k *kindPlaces) next() *lane {
	for k.turns.Len() > 0 {
		t := k.turns.Front()
		if t.waiting.Len() > 0 && !k.taken.hasRoom(k.most, t.weight()) {
			return nil
		}
		k.turns.Pop()
		t.queued = false
		if t.waiting.Len() == 0 || !t.taken.hasRoom(k.share, t.weight()) {
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

// open returns the lane of a key, a new one if need be.
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
	}
	t.lanes++
	l := &lane{key: key, kind: k, tenant: t, most: load{s.limit(key), laneBytesMax}}
	s.lanes[key] = l
	s.most = max(s.most, len(s.lanes))
	return l
}

// limit returns how many places a lane has.
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

func (l *lane) take(attempts int, weight int64) {
	l.taken.add(attempts, weight)
	l.tenant.taken.add(attempts, weight)
	l.kind.taken.add(attempts, weight)
}

// queueUp puts a lane that asks, and has a place, behind the others of its tenant.
func (l *lane) queueUp() {
	if l.asks.Len() == 0 || l.queued || !l.taken.hasRoom(l.most, l.asks.Front().weight) {
		return
	}
	l.queued = true
	l.tenant.waiting.Push(l)
	l.tenant.queueUp(l.kind)
}

// weight returns the weight of the attempt for which the first lane that waits asks.
func (t *tenantPlaces) weight() int64 {
	first := t.waiting.Front()
	return first.asks.Front().weight
}

// queueUp puts a tenant with a lane that its share has room for behind the others of the kind.
func (t *tenantPlaces) queueUp(k *kindPlaces) {
	if t.queued || t.waiting.Len() == 0 || !t.taken.hasRoom(k.share, t.weight()) {
		return
	}
	t.queued = true
	k.turns.Push(t)
}

// forget removes a lane that is not in use.
func (s *places) forget(l *lane) {
	if l.taken.attempts > 0 || l.asks.Len() > 0 {
		return
	}
	delete(s.lanes, l.key)
	if l.tenant.lanes--; l.tenant.lanes == 0 {
		delete(l.kind.tenants, l.tenant.name)
	}
	if len(s.lanes) == 0 && s.most > spareMax {
		s.lanes, s.most = make(map[job.Lane]*lane), 0
	}
}

// count returns how many lanes there are.
func (s *places) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.lanes)
}
