package dispatch

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/carillon-io/carillon/job"
)

// TestLanesAgainstCounts drives lanes at random and checks, after each step, the limits, that nobody
// waits who could go, that each target is served in order, and that a queue keeps few of those that
// have ended in it. In the end nothing is left.
func TestLanesAgainstCounts(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	s := newLanes(Options{ConcurrencyPerTarget: 3, InFlightMax: 7, QueuePerTarget: 5}.withDefaults())
	waiting, inFlight := map[string][]*attempt{}, map[string][]*attempt{}
	total := 0
	serve := func() {
		for a := s.next(job.TargetHandler); a != nil; a = s.next(job.TargetHandler) {
			name := a.delivery.Target.Handler
			if waiting[name][0] != a {
				t.Fatalf("seed %d: target %s is not served in order", seed, name)
			}
			waiting[name] = waiting[name][1:]
			inFlight[name] = append(inFlight[name], a)
			total++
		}
	}
	check := func() {
		for name := range waiting {
			busy := len(inFlight[name])
			if l := s.byKey[laneKey{job.TargetHandler, name}]; l != nil && l.waiting.Len()-l.gone != len(waiting[name]) ||
				l != nil && l.gone > len(waiting[name])+1 {
				t.Fatalf("seed %d: target %s keeps %d, %d of them ended, for %d waiting", seed, name, l.waiting.Len(), l.gone, len(waiting[name]))
			}
			if busy > 3 || total > 7 || len(waiting[name]) > 0 && busy < 3 && total < 7 {
				t.Fatalf("seed %d: target %s has %d waiting and %d of %d in flight", seed, name, len(waiting[name]), busy, total)
			}
		}
	}
	release := func(from map[string][]*attempt, name string, i int) {
		list := from[name]
		s.release(list[i])
		from[name] = append(append([]*attempt(nil), list[:i]...), list[i+1:]...)
	}
	step := func(offers bool) {
		name := fmt.Sprint(random.IntN(6))
		switch n := random.IntN(10); {
		case n < 5 && offers:
			a := &attempt{delivery: deliveryTo(handlerTarget(name), 0)}
			if s.offer(a) != (len(waiting[name]) < 5) {
				t.Fatalf("seed %d: target %s with %d waiting", seed, name, len(waiting[name]))
			}
			if a.lane != nil {
				waiting[name] = append(waiting[name], a)
			}
		case n < 6 && len(waiting[name]) > 0: // any one ends
			release(waiting, name, random.IntN(len(waiting[name])))
		case n >= 6 && len(inFlight[name]) > 0:
			release(inFlight, name, random.IntN(len(inFlight[name])))
			total--
		}
		serve()
		check()
	}
	for range 20_000 {
		step(true)
	}
	for len(s.byKey) > 0 {
		step(false)
	}
	if load := &s.kinds[job.TargetHandler]; load.inFlight != 0 || total != 0 {
		t.Errorf("seed %d: %d are left in flight, %d by the test's count", seed, load.inFlight, total)
	}
}

func TestLanesOfOneShotSubjectsDoNotStay(t *testing.T) {
	s := newLanes(Options{}.withDefaults())
	for n := range 10_000 {
		s.offer(&attempt{delivery: deliveryTo(requestTarget(fmt.Sprint("orders.", n)), n)})
		s.release(s.next(job.TargetRequest))
	}
	if len(s.byKey) != 0 {
		t.Errorf("%d lanes are left", len(s.byKey))
	}
}

func TestLaneKeyOfURL(t *testing.T) {
	tests := []struct{ url, want string }{
		{"https://Example.com/a/b?x=1", "https://example.com"},
		{"http://example.com:8080?x=/", "http://example.com:8080"},
		{"http://example.com", "http://example.com"},
		{"http://[::1]:80/", "http://[::1]:80"},
		{"no url", "no url"},
	}
	for _, tc := range tests {
		if got := laneKeyOf(httpTarget(tc.url)).name; got != tc.want {
			t.Errorf("%s has lane %q; want %q", tc.url, got, tc.want)
		}
	}
}

func TestOptionsAreChecked(t *testing.T) {
	bad := []Options{
		{ConcurrencyPerTarget: -1}, {StreamWindow: -1}, {InFlightMax: -1}, {QueuePerTarget: -1}, {QueueMax: -1},
		{QueueBytesMax: 1}, {QueueWaitMax: -1}, {Handlers: map[string]Handler{"h": nil}},
	}
	for _, o := range bad {
		if _, err := New(o); err == nil {
			t.Errorf("options %+v are accepted", o)
		}
	}
}
