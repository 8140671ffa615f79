package wheel

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// benchMax bounds the number of timers of the benchmarks. Ten million take half a gigabyte and some
// seconds to set up, so they have to be asked for:
//
//	go test ./wheel -run xxx -bench . -benchtime 2000000x -wheel.n 10000000
var benchMax = flag.Int("wheel.n", 1_000_000, "largest number of timers in the benchmarks")

const (
	hour = 3_600_000
	day  = 24 * hour
)

// benchStart is a quarter of an hour before a slot of every level up to 49 days begins, so that a few
// minutes of ticks see every level drain.
const benchStart Tick = 410<<32 - hour/4

// filled is a wheel with n timers spread evenly, at random, over the day after benchStart.
func filled(n int, random *rand.Rand) (*Wheel, []Ref) {
	w, refs := New(benchStart), make([]Ref, n)
	for i := range refs {
		refs[i] = w.Arm(uint64(i), benchStart+Tick(random.IntN(day)))
	}
	return w, refs
}

// bySize runs a benchmark at 1 M and 10 M timers and adds what the wheel counted.
func bySize(b *testing.B, run func(b *testing.B, w *Wheel, refs []Ref, random *rand.Rand)) {
	for _, n := range []int{1_000_000, 10_000_000} {
		if n > *benchMax {
			continue
		}
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			random := rand.New(rand.NewPCG(1, 2))
			w, refs := filled(n, random)
			before := w.Stats()
			b.ReportAllocs()
			b.ResetTimer()
			run(b, w, refs, random)
			b.StopTimer()
			stats := w.Stats()
			b.ReportMetric(float64(stats.SizeBytes)/float64(w.pool.used), "B/timer")
			b.ReportMetric(float64(stats.MovedWorst), "moved-worst/tick")
			b.ReportMetric(float64(stats.Moved-before.Moved)/float64(b.N), "moved/op")
		})
	}
}

// BenchmarkFill arms n timers in an empty wheel, over and over.
func BenchmarkFill(b *testing.B) {
	for _, n := range []int{1_000_000, 10_000_000} {
		if n > *benchMax {
			continue
		}
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			random := rand.New(rand.NewPCG(1, 2))
			ticks := make([]Tick, 1<<16)
			for i := range ticks {
				ticks[i] = benchStart + Tick(random.IntN(day))
			}
			var w *Wheel
			b.ResetTimer()
			for i := range b.N {
				if i%n == 0 {
					w = New(benchStart)
				}
				w.Arm(uint64(i), ticks[i%len(ticks)])
			}
		})
	}
}

// BenchmarkArm arms timers beside n others.
func BenchmarkArm(b *testing.B) {
	bySize(b, func(b *testing.B, w *Wheel, _ []Ref, random *rand.Rand) {
		for range b.N {
			w.Arm(1, benchStart+Tick(random.IntN(day)))
		}
	})
}

// BenchmarkCancelArm cancels timers picked at random and arms as many: the number stays.
func BenchmarkCancelArm(b *testing.B) {
	bySize(b, func(b *testing.B, w *Wheel, refs []Ref, random *rand.Rand) {
		for range b.N {
			i := random.IntN(len(refs))
			w.Cancel(refs[i])
			refs[i] = w.Arm(1, benchStart+Tick(random.IntN(day)))
		}
	})
}

// BenchmarkCancel cancels timers in random order, until none is left to begin anew with.
func BenchmarkCancel(b *testing.B) {
	bySize(b, func(b *testing.B, w *Wheel, refs []Ref, random *rand.Rand) {
		random.Shuffle(len(refs), func(i, j int) { refs[i], refs[j] = refs[j], refs[i] })
		b.ResetTimer()
		for i := range b.N {
			if i > 0 && i%len(refs) == 0 {
				b.StopTimer()
				w, refs = filled(len(refs), random)
				b.StartTimer()
			}
			w.Cancel(refs[i%len(refs)])
		}
	})
}

// BenchmarkRearm moves timers picked at random.
func BenchmarkRearm(b *testing.B) {
	bySize(b, func(b *testing.B, w *Wheel, refs []Ref, random *rand.Rand) {
		for range b.N {
			w.Rearm(refs[random.IntN(len(refs))], benchStart+Tick(random.IntN(day)))
		}
	})
}

// BenchmarkAdvance advances tick by tick, and arms each timer that fires for a day later.
func BenchmarkAdvance(b *testing.B) {
	bySize(b, func(b *testing.B, w *Wheel, refs []Ref, _ *rand.Rand) {
		durations := make([]time.Duration, 0, b.N)
		fire := func(id uint64, at Tick) { w.Arm(id, at+day) }
		for range b.N {
			start := time.Now()
			w.Advance(w.Now()+1, len(refs), fire)
			durations = append(durations, time.Since(start))
		}
		slices.Sort(durations)
		b.ReportMetric(float64(durations[len(durations)*999/1000].Nanoseconds()), "p99.9-ns")
		b.ReportMetric(float64(durations[len(durations)*9999/10000].Nanoseconds()), "p99.99-ns")
		b.ReportMetric(float64(durations[len(durations)-1].Nanoseconds()), "max-ns")
	})
}

// BenchmarkRewind takes a wheel with n timers back by some hours, which moves nearly all of them, and by a second.
func BenchmarkRewind(b *testing.B) {
	for _, back := range []Tick{1000, 5 * hour} {
		b.Run(fmt.Sprintf("back=%dms", back), func(b *testing.B) {
			bySize(b, func(b *testing.B, w *Wheel, _ []Ref, _ *rand.Rand) {
				for range b.N {
					w.Rewind(benchStart - 1 - back)
					b.StopTimer()
					w.Advance(benchStart-1, 1, nil) // none is due before benchStart
					b.StartTimer()
				}
			})
		})
	}
}
