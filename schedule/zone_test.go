package schedule

import (
	"testing"
	"time"

	"github.com/carillon-io/carillon/testkit"
)

// TestZonePeriodsCoverTime walks every zone from end to end: periods are contiguous, hold what package
// time says of their ends, and the walk comes to an end.
func TestZonePeriodsCoverTime(t *testing.T) {
	testkit.NotUnderRace(t, oneAsks)
	last := time.Date(2110, 1, 1, 0, 0, 0, 0, time.UTC).Unix()
	for _, name := range zoneNames(t) {
		loc, err := embeddedZones.load(name)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if loc == nil {
			continue
		}
		steps := 0
		for sec := int64(0); sec < last; steps++ {
			p := periodAt(loc, sec)
			if p.start > sec || p.end <= sec {
				t.Fatalf("%s: %d is not in its period %+v", name, sec, p)
			}
			for _, at := range []int64{sec, sec + (min(p.end, last)-sec)/2, min(p.end, last) - 1} {
				if _, off := time.Unix(at, 0).In(loc).Zone(); int64(off) != p.offset {
					t.Fatalf("%s: offset at %d is %d, want %d", name, at, off, p.offset)
				}
			}
			sec = p.end
		}
		if steps > 600 {
			t.Errorf("%s: %d periods", name, steps)
		}
	}
}

func TestZonesAreInterned(t *testing.T) {
	a, _ := embeddedZones.load("Europe/Paris")
	if b, err := embeddedZones.load("Europe/Paris"); a != b || err != nil {
		t.Errorf("loaded twice: %v", err)
	}
}
