package job

import "github.com/carillon-io/carillon/instant"

// JitterOf returns the delay of the launch of a job's tick: the job's fixed share of the jitter, or of the time to
// its next tick if that is less, so that no launch passes the next tick. All durations are in milliseconds; a next of
// 0 means that there is no next tick. The share depends on the job alone, and not on the tick, so that the launches
// of one job keep the distances of its schedule wherever the jitter is less than these.
func JitterOf(id ID, jitter, tick, next instant.Millis) instant.Millis {
	if next > tick {
		jitter = min(jitter, next-tick)
	}
	return instant.Millis(float64(jitter) * share(uint64(id), 0, 0))
}

// share mixes numbers into a fraction: at least 0, and less than 1. It is SplitMix64's finalizer (Steele, Lea, Flood:
// Fast splittable pseudorandom number generators, 2014) over each number in turn. It takes 53 bits of the hash, which
// is what a float64 holds exactly, so the result never rounds up to 1. The result decides instants that are in the
// log, so the function must stay the same in all releases.
func share(numbers ...uint64) float64 {
	var h uint64
	for _, n := range numbers {
		h += n + 0x9e3779b97f4a7c15
		h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
		h = (h ^ h>>27) * 0x94d049bb133111eb
		h ^= h >> 31
	}
	return float64(h>>11) / (1 << 53)
}
