package job

// JitterOf returns by how much the launch of a job's tick is put off: the job's own share of the jitter,
// or of the time to its next tick if that is less, so that no launch passes the next tick. A job
// keeps its share for life. All three lengths are in milliseconds; next is 0 if there is no next tick.
func JitterOf(id ID, jitter, tick, next Millis) Millis {
	if next > tick {
		jitter = min(jitter, next-tick)
	}
	return Millis(float64(jitter) * share(uint64(id), 0, 0))
}

// share mixes numbers into a fraction: 0 or more, and less than 1. It is SplitMix64's finalizer (Steele,
// Lea, Flood: Fast splittable pseudorandom number generators, 2014) over each number in turn.
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
