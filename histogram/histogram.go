// Package histogram counts durations and sizes in buckets: any quantile is right within 12.5 %, over the
// whole range of a counter, in a fixed 4 KiB. It follows the log-linear scheme of HdrHistogram: a
// bucket is an eighth of a power of two wide. Recording takes no lock and allocates nothing, so it has
// its place on the paths that are measured.
package histogram

import (
	"math/bits"
	"sync/atomic"
	"time"
)

// bucketCount is enough for every uint64.
const bucketCount = 512

// subBits is the number of bits of a value that tell the buckets of one power of two apart.
const subBits = 3

// buckets count values that are whole numbers of some unit.
type buckets struct {
	counts [bucketCount]atomic.Uint64
	sum    atomic.Uint64 // in the smallest unit that the kind has
	max    atomic.Uint64 // as sum
}

func (b *buckets) record(value, exact uint64) {
	b.counts[bucketOf(value)].Add(1)
	b.sum.Add(exact)
	for last := b.max.Load(); exact > last; last = b.max.Load() {
		if b.max.CompareAndSwap(last, exact) {
			return
		}
	}
}

// Times counts durations, to the microsecond. The zero value is empty and ready. It is safe for
// concurrent use, and must not be copied.
type Times struct{ buckets buckets }

// Record counts a duration; one below zero counts as zero.
func (t *Times) Record(d time.Duration) {
	d = max(d, 0)
	t.buckets.record(uint64(d/time.Microsecond), uint64(d))
}

// Read returns what was counted so far, in seconds.
func (t *Times) Read() Reading {
	return t.buckets.read(time.Microsecond.Seconds(), time.Nanosecond.Seconds())
}

// Sizes counts sizes in bytes. The zero value is empty and ready. It is safe for concurrent use, and must
// not be copied.
type Sizes struct{ buckets buckets }

// Record counts a size in bytes; one below zero counts as zero.
func (s *Sizes) Record(n int) {
	n = max(n, 0)
	s.buckets.record(uint64(n), uint64(n))
}

// Read returns what was counted so far, in bytes.
func (s *Sizes) Read() Reading { return s.buckets.read(1, 1) }

func bucketOf(v uint64) int {
	if v < 1<<subBits {
		return int(v)
	}
	shift := bits.Len64(v) - subBits - 1
	return (shift+1)<<subBits + int(v>>shift) - 1<<subBits
}

// bucketTop returns the largest value of a bucket.
func bucketTop(i int) uint64 {
	if i < 1<<subBits {
		return uint64(i)
	}
	shift := i>>subBits - 1
	base := uint64(i&(1<<subBits-1) | 1<<subBits)
	return (base+1)<<shift - 1
}
