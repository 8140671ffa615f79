package measure

import (
	"math"
	"strconv"
	"time"
)

// Percentile returns a percentile of sorted durations by nearest rank: the smallest one that at least per100k of
// 100,000 do not exceed. 0 is the smallest of all and 100,000 the largest. Without durations it is 0. It is exact: a
// histogram would be smaller, but would round the very values at the tail that matter.
func Percentile(sorted []time.Duration, per100k int) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	rank := (len(sorted)*per100k + 99_999) / 100_000
	return sorted[max(rank, 1)-1]
}

// Number returns a large number as a whole one with groups of three digits, and a small one with three decimals unless
// it is whole. It is for people; the JSON of a result has the full value.
func Number(v float64) string {
	if v != math.Trunc(v) && math.Abs(v) < 1000 {
		return strconv.FormatFloat(v, 'f', 3, 64)
	}
	text := strconv.FormatFloat(math.Abs(math.Round(v)), 'f', 0, 64)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	if v < 0 {
		return "-" + text
	}
	return text
}
