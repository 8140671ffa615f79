package main

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
)

// smallLoad is quick to run: half a minute of deadlines, some seconds ahead.
func smallLoad(n int) *timerLoad { return newTimerLoad(n, 4_000, 30_000, 1) }

// Every contestant passes the checks that the measuring makes, and gives the same figures each round.
func TestContestantsKeepTheirPromises(t *testing.T) {
	load := smallLoad(5_000)
	for _, c := range allContestants() {
		t.Run(c.name, func(t *testing.T) {
			var rounds [][]figure
			for range 2 {
				figures, broken := c.round(load)
				if len(broken) > 0 {
					t.Fatalf("broken: %q", broken)
				}
				rounds = append(rounds, figures)
			}
			for i, f := range rounds[0] {
				if again := rounds[1][i]; again.Key != f.Key {
					t.Errorf("figure %d is %s, then %s", i, f.Key, again.Key)
				}
			}
		})
	}
}

// In a bubble, real time costs none.
func TestRealTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		figures, broken := runRealTime(t.Context(), 1_000, 1)
		if len(broken) > 0 {
			t.Fatalf("broken: %q", broken)
		}
		if figures[0].Value != 900 {
			t.Errorf("%v timers fired, want 900", figures[0].Value)
		}
	})
}

// fullLog is what a perfect structure leaves behind.
func fullLog(l *timerLoad, step int64) *expiryLog {
	log, gone := newExpiryLog(l, step), l.isCancelled()
	byStep := make([][]uint64, l.end/step+1)
	for id, due := range l.last {
		if !gone[id] {
			i := (int64(due) - 1) / step // due at the end of a step is due in it
			byStep[i] = append(byStep[i], uint64(id))
		}
	}
	for _, ids := range byStep {
		for _, id := range ids {
			log.fire(id)
		}
		log.mark()
	}
	return log
}

func TestCheckFindsWhatIsWrong(t *testing.T) {
	const step = 1000
	load := smallLoad(1_000)
	for _, c := range []struct {
		name, want string
		spoil      func(e *expiryLog)
	}{
		{"nothing", "", func(*expiryLog) {}},
		{"early", "before the step", func(e *expiryLog) { e.ends[10]++ }},
		{"late", "after the step", func(e *expiryLog) { e.ends[10]-- }},
		{"again", "again", func(e *expiryLog) { e.ids = append(e.ids, e.ids[0]); e.ends[len(e.ends)-1]++ }},
		{"cancelled", "cancelled", func(e *expiryLog) { e.ids = append(e.ids, load.cancelled[0]); e.ends[len(e.ends)-1]++ }},
		{"missing", "never", func(e *expiryLog) {
			e.ends[len(e.ends)-1]--
			e.ends[len(e.ends)-2] = min(e.ends[len(e.ends)-2], e.ends[len(e.ends)-1])
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			log := fullLog(load, step)
			c.spoil(log)
			got := load.check(log, step)
			if c.want == "" && len(got) > 0 || c.want != "" && (len(got) != 1 || !strings.Contains(got[0], c.want)) {
				t.Errorf("complaints %q, want one with %q", got, c.want)
			}
		})
	}
}

func TestPickIDs(t *testing.T) {
	load := smallLoad(1_000)
	picked := slices.Concat(load.cancelled, load.moved)
	slices.Sort(picked)
	if len(picked) != 200 || len(slices.Compact(picked)) != 200 || slices.Max(picked) >= 1_000 {
		t.Errorf("picked %d ids up to %d, want 200 different ones below 1000", len(picked), slices.Max(picked))
	}
}

// A slot of 256 ticks with 300 timers moves two in a tick, and one of 65,536 that has 301 moves one.
func TestMoveBound(t *testing.T) {
	load := &timerLoad{end: 70_000, last: make([]uint32, 302), cancelled: []uint32{0}}
	for id := range load.last {
		load.last[id] = 66_000
	}
	load.last[301] = 65_600
	if got := load.moveBound(0); got != 3 {
		t.Errorf("bound %d, want 3", got)
	}
}

func TestSpreadOf(t *testing.T) {
	one := func(v float64) []figure { return []figure{{"arm_ns", "arm", v, "ns"}} }
	got := spreadOf([][]figure{one(3), one(1), one(2)})
	want := []figure{{"arm_ns", "arm", 2, "ns"}, {"min_arm_ns", "arm, min", 1, "ns"}, {"max_arm_ns", "arm, max", 3, "ns"}}
	if !slices.Equal(got, want) {
		t.Errorf("spread %v, want %v", got, want)
	}
	if got := spreadOf([][]figure{one(3)}); !slices.Equal(got, one(3)) {
		t.Errorf("of one round %v, want it unchanged", got)
	}
}

func TestAvailableBytes(t *testing.T) {
	got, ok := availableBytes("MemTotal:  2000 kB\nMemAvailable:    1000 kB\n")
	if !ok || got != 1_024_000 {
		t.Errorf("available %d, %v; want 1024000", got, ok)
	}
	if _, ok := availableBytes("MemTotal: 2000 kB\n"); ok {
		t.Error("found what is not there")
	}
}

func TestRefuseTooMany(t *testing.T) {
	huge := []contestant{{name: "huge", sizeBytes: 1 << 40}}
	if _, err := availableMemory(); err != nil {
		t.Skip(err)
	}
	if err := refuseTooMany(timersMin, huge); err == nil || !strings.Contains(err.Error(), "huge") {
		t.Errorf("error %v, want one that names the structure", err)
	}
}

func TestStepTimes(t *testing.T) {
	times := make(stepTimes, 200)
	for i := range times {
		times[i] = uint32(i + 1)
	}
	if p50, most := times.at(500_000), times.at(1_000_000); p50 != 100 || most != 200 {
		t.Errorf("p50 %d and max %d, want 100 and 200", p50, most)
	}
	if got := times.undisturbed(); got != 99.5 {
		t.Errorf("mean without the slowest two %v, want 99.5", got)
	}
}
