package scheduler

import (
	"testing"
	"time"
)

// TestWithin: what was recorded is counted under the bounds that it does not exceed, to within the width of a
// bucket.
func TestWithin(t *testing.T) {
	var h histogram
	for _, d := range []time.Duration{0, 200 * time.Microsecond, 900 * time.Microsecond, 4 * time.Millisecond, 90 * time.Millisecond, 45 * time.Second, time.Hour} {
		h.record(d)
	}
	l := h.summary()
	want := map[time.Duration]uint64{
		250 * time.Microsecond: 2, 500 * time.Microsecond: 2, time.Millisecond: 3, 5 * time.Millisecond: 4, 100 * time.Millisecond: 5,
		10 * time.Second: 5, time.Minute: 6, 10 * time.Minute: 6,
	}
	for i, bound := range LatenessBounds() {
		if n, ok := want[bound]; ok && l.Within[i] != n {
			t.Errorf("%d were at most %s late, want %d", l.Within[i], bound, n)
		}
	}
	if l.Count != 7 || l.Sum < time.Hour+45*time.Second || l.Sum > time.Hour+46*time.Second {
		t.Errorf("%d recorded, %s together", l.Count, l.Sum)
	}
}
