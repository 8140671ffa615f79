package dispatch

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/testkit"
)

// placesTwin keeps a simple count of places that were taken at random.
type placesTwin struct {
	t      *testing.T
	seed   uint64
	places *places
	keys   []job.Lane
	held   map[job.Lane][]int64 // weights of the places that are taken
	asked  map[job.Lane][]int64 // weights, in order
}

// grant is called with a place.
func (w *placesTwin) grant(key job.Lane, keeps bool) func() bool {
	return func() bool {
		if len(w.asked[key]) == 0 {
			w.t.Fatalf("seed %d: %v is called, and has not asked", w.seed, key)
		}
		weight := w.asked[key][0]
		if w.asked[key] = w.asked[key][1:]; len(w.asked[key]) == 0 {
			delete(w.asked, key)
		}
		if keeps {
			w.held[key] = append(w.held[key], weight)
		}
		return keeps
	}
}

func (w *placesTwin) load(of func(job.Lane) bool) (l load) {
	for key, weights := range w.held {
		for _, weight := range weights {
			if of(key) {
				l.add(1, weight)
			}
		}
	}
	return l
}

// check compares the loads with the bounds, and looks whether a lane waits for which there is a place.
func (w *placesTwin) check() {
	k := &w.places.kinds[job.TargetHandler]
	all := w.load(func(job.Lane) bool { return true })
	if all != k.taken || all.attempts > k.most.attempts || all.attempts > 1 && all.bytes > k.most.bytes {
		w.t.Fatalf("seed %d: %+v of a kind are taken, by the test's count %+v", w.seed, k.taken, all)
	}
	isShort := true // whether each that waits is kept waiting by the kind
	for _, key := range w.keys {
		tenant := w.load(func(other job.Lane) bool { return other.Tenant == key.Tenant })
		lane := w.load(func(other job.Lane) bool { return other == key })
		if tenant.attempts > k.share.attempts || tenant.attempts > 1 && tenant.bytes > k.share.bytes || lane.attempts > w.places.limit(key) {
			w.t.Fatalf("seed %d: lane %v has %+v, its tenant %+v", w.seed, key, lane, tenant)
		}
		weight, waits := int64(0), len(w.asked[key]) > 0
		if waits {
			weight = w.asked[key][0]
		}
		if l := w.places.lanes[key]; waits && l.queued && l.tenant.waiting.Front() == l && tenant.hasRoom(k.share, weight) {
			isShort = isShort && !all.hasRoom(k.most, weight)
		} else if waits && !l.queued && lane.hasRoom(l.most, weight) {
			w.t.Fatalf("seed %d: lane %v is not in line, and has room", w.seed, key)
		}
	}
	if front := k.turns.Len() > 0; front && !isShort && all.hasRoom(k.most, k.turns.Front().weight()) {
		w.t.Fatalf("seed %d: there is room, and someone waits", w.seed)
	}
}

// TestPlacesTwin takes places at random, gives them back, and checks after each step the bounds of lanes,
// tenants and kinds, that no lane waits for which there is a place, and that each is called as often as it
// asks. In the end nothing is left.
func TestPlacesTwin(t *testing.T) {
	seed := testkit.Seed(t)
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	w := &placesTwin{t: t, seed: seed, held: make(map[job.Lane][]int64), asked: make(map[job.Lane][]int64)}
	w.places = newPlaces(Options{ConcurrencyPerTarget: 3, InFlightMax: 8}.withDefaults())
	w.places.kinds[job.TargetHandler].most.bytes = 1000
	w.places.kinds[job.TargetHandler].share.bytes = 700
	for n := range 8 {
		w.keys = append(w.keys, job.Lane{Tenant: fmt.Sprint("t", n%3), Kind: job.TargetHandler, Name: fmt.Sprint(n), Limit: uint32(n % 2)})
	}
	for n := range 20_000 {
		key := w.keys[random.IntN(len(w.keys))]
		weight := random.Int64N(400)
		if ends := n > 15_000; random.IntN(2) == 0 && !ends && len(w.asked[key]) < 3 {
			waits := len(w.asked[key])
			switch got := w.places.reserve(key, weight, w.grant(key, random.IntN(4) > 0)); {
			case got && waits > 0:
				t.Fatalf("seed %d: lane %v has a place, and waits for one", seed, key)
			case got:
				w.held[key] = append(w.held[key], weight)
			case !got:
				w.asked[key] = append(w.asked[key], weight)
			}
		} else if held := w.held[key]; len(held) > 0 {
			i := random.IntN(len(held))
			weight := held[i]
			w.held[key] = append(append([]int64(nil), held[:i]...), held[i+1:]...)
			w.places.release(w.places.find(key), weight)
		}
		w.check()
	}
	if n := w.places.count(); n != 0 || len(w.asked) != 0 || len(w.places.kinds[job.TargetHandler].tenants) != 0 {
		t.Errorf("seed %d: %d lanes are left, %d wait", seed, n, len(w.asked))
	}
}

// TestPlacesOfABusyKindGoByTurns: one run of a tenant waits for one place of another's herd, not for the herd.
func TestPlacesOfABusyKindGoByTurns(t *testing.T) {
	s := newPlaces(Options{ConcurrencyPerTarget: 64, InFlightMax: 4}.withDefaults())
	herd := func(n int) job.Lane { return job.Lane{Tenant: "herd", Kind: job.TargetHTTP, Name: fmt.Sprint(n)} }
	var order []string
	room := func(name string) func() bool {
		return func() bool { order = append(order, name); return true }
	}
	for n := range 10 {
		s.reserve(herd(n), 0, room("herd"))
	}
	for range 2 {
		s.reserve(job.Lane{Tenant: "other", Kind: job.TargetHTTP, Name: "x"}, 0, room("other"))
	}
	if len(order) != 0 || s.kinds[job.TargetHTTP].taken.attempts != 4 {
		t.Fatalf("%v were called, %d are taken", order, s.kinds[job.TargetHTTP].taken.attempts)
	}
	s.release(s.find(herd(0)), 0)
	s.release(s.find(herd(1)), 0)
	if fmt.Sprint(order) != "[other herd]" {
		t.Errorf("%v were called; want the other tenant first, whose share is free", order)
	}
}

// TestTwoEnginesAtOneLane: an engine that ended, or another one of the process, may still be asking for a place;
// who asks after it is called too.
func TestTwoEnginesAtOneLane(t *testing.T) {
	s := newPlaces(Options{ConcurrencyPerTarget: 1}.withDefaults())
	key := job.Lane{Kind: job.TargetHTTP, Name: "x"}
	s.reserve(key, 0, nil)
	called := ""
	s.reserve(key, 0, func() bool { called += "ended "; return false })
	s.reserve(key, 0, func() bool { called += "leads"; return true })
	s.release(s.find(key), 0)
	if called != "ended leads" || s.lanes[key].taken.attempts != 1 {
		t.Errorf("%q were called, %d places are taken", called, s.lanes[key].taken.attempts)
	}
}

func TestLanesOfOneShotSubjectsDoNotStay(t *testing.T) {
	s := newPlaces(Options{}.withDefaults())
	for n := range 10_000 {
		key := deliveryTo(requestTarget(fmt.Sprint("orders.", n)), n).Lane()
		s.reserve(key, 5, nil)
		s.release(s.find(key), 5)
	}
	if s.count() != 0 {
		t.Errorf("%d lanes are left", s.count())
	}
}

func TestOptionsAreChecked(t *testing.T) {
	bad := []Options{
		{ConcurrencyPerTarget: -1}, {StreamWindow: -1}, {InFlightMax: -1}, {PublishMax: -1},
		{Handlers: map[string]Handler{"h": nil}},
	}
	for _, o := range bad {
		if _, err := New(o); err == nil {
			t.Errorf("options %+v are accepted", o)
		}
	}
}
