package dashboard

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// TestStreamsAreShared lets one tenant take all places: another takes places of it, until both have the same number, and
// a third after that. A tenant that has its share gets no more.
func TestStreamsAreShared(t *testing.T) {
	s := newStreams(6)
	var ended []string
	open := func(name string) bool {
		tenant, _, _ := strings.Cut(name, "-")
		return s.take(tenant, func() { ended = append(ended, name) }) != nil
	}
	for _, c := range []struct {
		name  string
		ok    bool
		ended string
	}{
		{"a-1", true, ""}, {"a-2", true, ""}, {"a-3", true, ""}, {"a-4", true, ""}, {"a-5", true, ""}, {"a-6", true, ""},
		{"a-7", false, ""},
		{"b-1", true, "a-1"}, {"b-2", true, "a-2"}, {"b-3", true, "a-3"}, {"b-4", false, ""}, {"a-8", false, ""},
		{"c-1", true, "one"}, {"c-2", true, "another"}, {"c-3", false, ""},
	} {
		before := len(ended)
		if open(c.name) != c.ok || (len(ended) > before) != (c.ended != "") {
			t.Fatalf("%s: ended %v", c.name, ended)
		}
		if strings.HasPrefix(c.ended, "a-") && ended[before] != c.ended {
			t.Errorf("%s took the place of %s, want %s", c.name, ended[before], c.ended)
		}
	}
	if s.count() != 6 || s.byTenant["a"].Len() != 2 || s.byTenant["b"].Len() != 2 || s.byTenant["c"].Len() != 2 {
		t.Errorf("%d are open", s.count())
	}
}

// TestStreamsAtRandom opens and closes streams of tenants at random. A tenant is refused only when no other has two more
// than it, and what was ended is not freed twice.
func TestStreamsAtRandom(t *testing.T) {
	seed := rand.Uint64()
	rng := rand.New(rand.NewPCG(seed, 0))
	s, open := newStreams(16), map[*streamPlace]bool{}
	counts := map[string]int{}
	for range 20_000 {
		if rng.IntN(3) == 0 {
			for p := range open {
				s.free(p)
				s.free(p)
				counts[p.tenant]--
				delete(open, p)
				break
			}
			continue
		}
		tenant := string(rune('a' + rng.IntN(5)))
		p := s.take(tenant, func() {
			for q := range open {
				if q.element == nil {
					counts[q.tenant]--
					delete(open, q)
				}
			}
		})
		most := 0
		for _, n := range counts {
			most = max(most, n)
		}
		if p == nil {
			if s.count() < 16 || most >= counts[tenant]+2 {
				t.Fatalf("seed %d: %s was refused with %v", seed, tenant, counts)
			}
			continue
		}
		open[p] = true
		counts[tenant]++
		if len(open) != s.count() || s.count() > 16 {
			t.Fatalf("seed %d: %d are open, want %d", seed, s.count(), len(open))
		}
	}
}
