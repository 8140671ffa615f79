package bench

import "testing"

// TestFloorIsOfOnePhase: a measurement that was ended has what it found, and never a wake-up before its time.
func TestFloorIsOfOnePhase(t *testing.T) {
	stop := startFloor()
	late := stop()
	if len(late) > 1 {
		t.Errorf("%d sleeps before the end; want 1 at most", len(late))
	}
	for _, d := range late {
		if d < 0 {
			t.Errorf("a thread woke %s before its time", -d)
		}
	}
}
