package scheduler

import (
	"math/bits"
	"time"
)

// histogram counts durations in buckets whose width is an eighth of a power of two of microseconds:
// any quantile is right within 12.5 %, over the whole range, in a fixed 2 KiB. The zero value is
// empty. It follows the log-linear scheme of HdrHistogram.
type histogram struct {
	counts [512]uint64
	total  uint64
	sum    time.Duration
	max    time.Duration
}

// subBits is the number of bits of a value that tell the buckets of one power of two apart.
const subBits = 3

func (h *histogram) record(d time.Duration) {
	d = max(d, 0)
	h.counts[bucketOf(uint64(d.Microseconds()))]++
	h.total++
	h.sum += d
	h.max = max(h.max, d)
}

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

// quantile returns a duration that the given share of the recorded ones does not exceed.
func (h *histogram) quantile(q float64) time.Duration {
	rank := uint64(q*float64(h.total) + 0.5)
	var seen uint64
	for i, n := range h.counts {
		if seen += n; n > 0 && seen >= rank {
			return min(h.max, time.Duration(bucketTop(i))*time.Microsecond)
		}
	}
	return h.max
}

func (h *histogram) summary() Lateness {
	if h.total == 0 {
		return Lateness{}
	}
	return Lateness{
		Count: h.total, P50: h.quantile(0.5), P90: h.quantile(0.9), P99: h.quantile(0.99),
		P999: h.quantile(0.999), Max: h.max,
		Sum: h.sum, Within: h.within(),
	}
}

// within counts what was recorded by the bounds of a summary. A bucket counts where its largest value is.
func (h *histogram) within() (counts [len(latenessBounds)]uint64) {
	i := 0
	seen := uint64(0)
	for b, n := range h.counts {
		for i < len(latenessBounds) && bucketTop(b) > uint64(latenessBounds[i].Microseconds()) {
			counts[i] = seen
			i++
		}
		seen += n
	}
	for ; i < len(latenessBounds); i++ {
		counts[i] = seen
	}
	return counts
}
