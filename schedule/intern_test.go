package schedule

import (
	"fmt"
	"sync"
	"testing"

	"github.com/carillon-io/carillon/instant"
)

func TestInternIsBounded(t *testing.T) {
	c := newIntern[int, int](10)
	c.put(-1, -1)
	for i := range 1000 {
		c.put(i, i)
		if _, ok := c.get(-1); !ok {
			t.Fatalf("lost a value in use after %d others", i+1)
		}
		if n := len(c.young) + len(c.old); n > 20 {
			t.Fatalf("%d values are remembered, want at most 20", n)
		}
	}
	if _, ok := c.get(0); ok {
		t.Error("a value long unused is still remembered")
	}
}

// TestParseConcurrently lets many callers fill and empty the cache. The race detector and the results show whether
// they disturb one another.
func TestParseConcurrently(t *testing.T) {
	var wg sync.WaitGroup
	for worker := range 4 {
		wg.Go(func() {
			for i := range 3000 {
				n := (i*7 + worker) % 5000
				expr := fmt.Sprintf("%d %d * * *", n%60, n/60%24)
				s, err := Parse(Spec{Expr: expr, StartsAt: instant.Millis(1 + n/1440)})
				if err != nil || s.Spec().Expr != expr {
					t.Errorf("%q: %v, %v", expr, s, err)
					return
				}
				if _, ok := s.Next(0, 0); !ok {
					t.Errorf("%q has no tick", expr)
				}
			}
		})
	}
	wg.Wait()
}

func TestParseInterns(t *testing.T) {
	a := mustSchedule(t, "1 2 3 * *", "Europe/Berlin")
	if b := mustSchedule(t, "1 2 3 * *", "Europe/Berlin"); a != b {
		t.Error("the same text compiled twice")
	}
}
