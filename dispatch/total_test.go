package dispatch

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/testkit"
)

// TestTotalTwin takes places of three tenants in three kinds at random, one of the tenants without a bound, and changes a
// bound from time to time. After each step no tenant with a constant bound has more than it may, and no attempt waits for
// which there is a place.
func TestTotalTwin(t *testing.T) {
	seed := testkit.Seed(t)
	random := rand.New(rand.NewPCG(seed, 1))
	most := map[string]int{"bounded": 4, "changing": 2}
	s := newPlaces(Options{ConcurrencyPerTarget: 3, InFlightMax: 12, InFlight: func(tenant string) int { return most[tenant] }}.withDefaults())
	var keys []job.Lane
	for _, tenant := range []string{"bounded", "changing", "free"} {
		for _, kind := range []job.TargetKind{job.TargetRequest, job.TargetHTTP, job.TargetHandler} {
			for n := range 2 {
				keys = append(keys, job.Lane{Tenant: tenant, Kind: kind, Name: fmt.Sprint(n)})
			}
		}
	}
	held, asked := map[job.Lane]int{}, map[job.Lane]int{}
	taken := func(of func(job.Lane) bool) (n int) {
		for key, one := range held {
			if of(key) {
				n += one
			}
		}
		return n
	}
	check := func() {
		for _, key := range keys {
			total := taken(func(k job.Lane) bool { return k.Tenant == key.Tenant })
			kind := taken(func(k job.Lane) bool { return k.Kind == key.Kind })
			share := taken(func(k job.Lane) bool { return k.Kind == key.Kind && k.Tenant == key.Tenant })
			bound := most[key.Tenant]
			if key.Tenant == "bounded" && total > bound || s.inFlightOf(key.Tenant) != total {
				t.Fatalf("seed %d: %s has %d attempts, and %d by its count", seed, key.Tenant, total, s.inFlightOf(key.Tenant))
			}
			hasRoom := held[key] < 3 && share < 9 && kind < 12 && (bound == 0 || total < bound)
			if asked[key] > 0 && hasRoom {
				t.Fatalf("seed %d: %+v waits, and there is room", seed, key)
			}
		}
	}
	for n := range 20_000 {
		key := keys[random.IntN(len(keys))]
		switch {
		case n%97 == 0 && n < 15_000:
			most["changing"] = random.IntN(5) // 0: no bound for a while
			s.review()
		case n < 15_000 && random.IntN(2) == 0 && asked[key] < 3:
			room := func() bool {
				asked[key]--
				held[key]++
				return true
			}
			if s.reserve(key, 0, room) {
				held[key]++
			} else {
				asked[key]++
			}
		case held[key] > 0:
			held[key]--
			s.release(s.find(key), 0)
		}
		check()
	}
	for _, key := range keys {
		for held[key] > 0 {
			held[key]--
			s.release(s.find(key), 0)
		}
	}
	if s.count() != 0 || len(s.totals) != 0 || taken(func(job.Lane) bool { return true }) != 0 {
		t.Errorf("seed %d: %d lanes and %d totals are left", seed, s.count(), len(s.totals))
	}
}

// TestTotalTakesTurns has a tenant with one place wait in two kinds: they get it in turns, and another tenant is not
// delayed.
func TestTotalTakesTurns(t *testing.T) {
	s := newPlaces(Options{InFlight: func(tenant string) int { return map[string]int{"one": 1}[tenant] }}.withDefaults())
	http, handler := job.Lane{Tenant: "one", Kind: job.TargetHTTP, Name: "a"}, job.Lane{Tenant: "one", Kind: job.TargetHandler, Name: "b"}
	if !s.reserve(http, 0, nil) {
		t.Fatal("the first attempt has no place")
	}
	var order []job.TargetKind
	for range 3 {
		for _, key := range []job.Lane{http, handler} {
			if s.reserve(key, 0, func() bool { order = append(order, key.Kind); return true }) {
				t.Fatal("a second attempt has a place")
			}
		}
	}
	if other := (job.Lane{Tenant: "other", Kind: job.TargetHTTP, Name: "a"}); !s.reserve(other, 0, nil) {
		t.Error("another tenant has no place")
	}
	last := http
	for range 6 {
		s.release(s.find(last), 0)
		if last = http; order[len(order)-1] == job.TargetHandler {
			last = handler
		}
	}
	want := []job.TargetKind{job.TargetHandler, job.TargetHTTP, job.TargetHandler, job.TargetHTTP, job.TargetHandler, job.TargetHTTP}
	if fmt.Sprint(order) != fmt.Sprint(want) {
		t.Errorf("the kinds got the place in the order %v, want %v", order, want)
	}
}
