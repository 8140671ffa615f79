package bench

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// TestCatchingUpIsCounted judges runs that all shards together fired too fast, and runs that they fired at their rate.
func TestCatchingUpIsCounted(t *testing.T) {
	from := time.UnixMilli(1_795_000_000_000)
	o := &outageCluster{outageCmd: &outageCmd{Away: 10 * time.Second}, from: from}
	for rate, want := range map[int]string{100: "", 400: "400 missed runs arrived within one second, of 110 allowed"} {
		var receipts []receipt
		for i := range 2*rate + rate/2 {
			at := from.Add(10*time.Second + time.Second*time.Duration(i)/time.Duration(rate))
			receipts = append(receipts, receipt{runID: at.String(), arrived: at}, receipt{runID: at.String(), arrived: at.Add(time.Millisecond)})
		}
		var r result
		o.tell(&r, receipts, 100)
		if got := strings.Join(r.Broken, "; "); got != want {
			t.Errorf("%d a second: %q, want %q", rate, got, want)
		}
		for _, f := range r.Figures {
			if f.Key == "caught_up_per_s_median" && f.Value != float64(rate) {
				t.Errorf("%d a second are told as %v", rate, f.Value)
			}
		}
	}
	early := result{}
	o.tell(&early, []receipt{{runID: "1", arrived: from.Add(time.Second)}}, 100)
	if len(early.Broken) != 1 || !strings.Contains(early.Broken[0], "no node had missed") {
		t.Errorf("a run that arrived in the outage: %q", early.Broken)
	}
}

// TestMostWithin counts the instants in the fullest second, wherever it begins.
func TestMostWithin(t *testing.T) {
	var at []time.Time
	for _, ms := range []int{0, 900, 1000, 1100, 1899, 1900, 5000} {
		at = append(at, time.UnixMilli(int64(ms)))
	}
	if got := mostWithin(at, time.Second); got != 4 {
		t.Errorf("%d, want the 4 from 900 to 1899", got)
	}
	if got := perSecond(at); !slices.Equal(got, []float64{2, 4, 0, 0, 0}) {
		t.Errorf("%v", got)
	}
	if mostWithin(nil, time.Second) != 0 || len(perSecond(nil)) != 0 {
		t.Error("none are some")
	}
}
