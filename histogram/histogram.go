// Package histogram counts durations and sizes in buckets. Any quantile has a relative error of at most
// 12.5 %, over the whole range of a uint64, in a fixed 4 KiB. It uses the log-linear scheme of
// HdrHistogram: each power of two is divided into eight buckets of equal width. Recording takes no lock
// and allocates nothing, so it may be called on the paths that it measures.
package histogram

import (
	"math/bits"
	"sync/atomic"
	"time"
)

// bucketCount is the number of buckets; every uint64 belongs to one of them. The highest that is used is 495.
const bucketCount = 512

// subBits is the number of bits after the leading one that select the bucket within a power of two:
// three bits make eight buckets. Each further bit would halve the error and double the memory.
const subBits = 3

// buckets counts values in whole units. The three counters are updated independently: a reader may see
// one of them before the others.
type buckets struct {
	counts [bucketCount]atomic.Uint64
	sum    atomic.Uint64 // of the exact values: nanoseconds for Times, bytes for Sizes
	max    atomic.Uint64 // in the unit of sum
}

// record counts a value in its bucket, and exact in the sum and the maximum. It counts first, and read reads
// the counts last; so a reading never has a value in Sum or Max that is missing in Count.
func (b *buckets) record(value, exact uint64) {
	b.counts[bucketOf(value)].Add(1)
	b.sum.Add(exact)
	for last := b.max.Load(); exact > last; last = b.max.Load() {
		if b.max.CompareAndSwap(last, exact) {
			return
		}
	}
}

// Times counts durations; its buckets have a resolution of a microsecond, while the sum and the maximum are
// exact. All times below a microsecond share a bucket. The zero value is empty and ready. It is safe for
// concurrent use, and must not be copied.
type Times struct{ buckets buckets }

// Record counts a duration. A negative one counts as zero: it is the distance of two instants of a clock that
// was set back between them.
func (t *Times) Record(d time.Duration) {
	d = max(d, 0)
	t.buckets.record(uint64(d/time.Microsecond), uint64(d))
}

// Read returns a reading of the counts so far, in seconds.
func (t *Times) Read() Reading {
	return t.buckets.read(time.Microsecond.Seconds(), time.Nanosecond.Seconds())
}

// Sizes counts sizes in bytes. The zero value is empty and ready. It is safe for concurrent use, and must
// not be copied.
type Sizes struct{ buckets buckets }

// Record counts a size in bytes. A negative one counts as zero.
func (s *Sizes) Record(n int) {
	n = max(n, 0)
	s.buckets.record(uint64(n), uint64(n))
}

// Read returns a reading of the counts so far, in bytes.
func (s *Sizes) Read() Reading { return s.buckets.read(1, 1) }

// bucketOf returns the bucket of a value. Values below 8 have a bucket each. Above, shift is the number of
// low bits that do not matter for the bucket: what remains is the leading one and the subBits after it.
func bucketOf(v uint64) int {
	if v < 1<<subBits {
		return int(v)
	}
	shift := bits.Len64(v) - subBits - 1
	return (shift+1)<<subBits + int(v>>shift) - 1<<subBits
}

// bucketTop returns the largest value that belongs to a bucket.
func bucketTop(i int) uint64 {
	if i < 1<<subBits {
		return uint64(i)
	}
	shift := i>>subBits - 1
	base := uint64(i&(1<<subBits-1) | 1<<subBits)
	return (base+1)<<shift - 1
}
