package schedule

import (
	"math/bits"
	"strings"
)

// Years that the year field of a cron expression may name.
const (
	// Four words hold a set of them.
	yearMin = 1970
	yearMax = 2199
)

// yearSet is a set of years, bit n for the n-th after yearMin. It is behind a pointer in a pattern, because few
// schedules have one.
type yearSet [(yearMax - yearMin + 64) / 64]uint64

// parseYears parses a normalised year field; nil means every year. The parser of the other fields knows no years.
func parseYears(text string) (*yearSet, error) {
	if text == "*" {
		return nil, nil
	}
	set := &yearSet{}
	for item := range strings.SplitSeq(text, ",") {
		it, err := cronFields[fieldYear].parseItem(item)
		if err != nil {
			return nil, err
		}
		for year := it.low; year <= it.high; year += it.step {
			n := year - yearMin
			set[n/64] |= 1 << (n % 64)
		}
	}
	return set, nil
}

// has reports whether a year is in the set; years outside of the bounds are not. A schedule with a year field thus
// has no tick after yearMax.
func (s *yearSet) has(year int) bool {
	n := year - yearMin
	return n >= 0 && n/64 < len(s) && s[n/64]>>(n%64)&1 != 0
}

// next returns the first year of the set that is not before the given one. It reports false if there is none.
func (s *yearSet) next(year int) (int, bool) {
	n := max(year-yearMin, 0)
	for i := n / 64; i < len(s); i++ {
		word := s[i]
		if i == n/64 {
			word = word >> (n % 64) << (n % 64)
		}
		if word != 0 {
			return yearMin + i*64 + bits.TrailingZeros64(word), true
		}
	}
	return 0, false
}
