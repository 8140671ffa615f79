package plot

import (
	"math"
	"strconv"
)

// scale maps the values of an axis to pixels, and computes its ticks.
type scale struct {
	// log maps by the logarithm; step is then not used.
	log       bool
	low, high float64 // values at the ends; low < high
	step      float64 // between the ticks of a linear scale
	from, to  float64 // pixels at the ends
}

// tick is a mark on an axis. A tick without a label is drawn as a minor one.
type tick struct {
	value float64
	label string
}

// ticksWanted is the approximate number of ticks of a linear scale. More labels would touch each other at the
// height of the picture.
const ticksWanted = 5

// newScale returns a scale from a round value at or below low to a round value at or above high.
func newScale(a Axis, low, high, from, to float64) scale {
	s := scale{log: a.Log, from: from, to: to}
	if s.log {
		s.low, s.high = roundDown(low), roundUp(high)
		// A single value needs a range too.
		if s.low == s.high {
			s.high = roundUp(1.5 * s.low)
		}
		return s
	}
	if low >= 0 && low <= high/2 {
		low = 0 // begin at 0, so that lengths are comparable
	}
	if low == high {
		low, high = low-1, high+1
	}
	s.step = roundUp((high - low) / ticksWanted)
	s.low, s.high = math.Floor(low/s.step)*s.step, math.Ceil(high/s.step)*s.step
	return s
}

// pixel returns the position of a value, in pixels. Pixels of the vertical axis grow downwards, so there from is
// greater than to.
func (s *scale) pixel(v float64) float64 {
	low, high := s.low, s.high
	if s.log {
		v, low, high = math.Log(v), math.Log(low), math.Log(high)
	}
	return s.from + (s.to-s.from)*(v-low)/(high-low)
}

// ticks returns the ticks of the scale, in ascending order.
func (s *scale) ticks() []tick {
	if s.log {
		return s.logTicks()
	}
	var all []tick
	for i := math.Round(s.low / s.step); i <= math.Round(s.high/s.step); i++ {
		all = append(all, tick{i * s.step, label(i * s.step)})
	}
	return all
}

// logTicks returns the ticks of a logarithmic scale: the powers of ten. On a short scale the ticks at 2
// and 5 have labels too; on a long one the minor ticks are omitted, and on a very long one some powers
// have no label.
func (s *scale) logTicks() []tick {
	const short, long, veryLong = 2.5, 5, 10
	decades := math.Log10(s.high / s.low)
	// At most about veryLong labels are shown.
	every := int(math.Ceil(decades / veryLong))
	var all []tick
	for k := int(math.Floor(math.Log10(s.low))); k <= int(math.Ceil(math.Log10(s.high))); k++ {
		for digit := 1; digit <= 9; digit++ {
			t := tick{value: power(digit, k)}
			switch {
			case t.value < s.low*(1-tiny) || t.value > s.high*(1+tiny):
				continue
			case digit == 1 && k%every == 0, decades < short && (digit == 2 || digit == 5):
				t.label = label(t.value)
			case digit != 1 && decades > long:
				continue
			}
			all = append(all, t)
		}
	}
	return all
}

// tiny is a tolerance larger than the rounding errors of a few operations.
const tiny = 1e-9

// power returns digit times ten to the k, as exactly as possible: for a negative k it divides, because
// the product with a negative power of ten would be less exact.
func power(digit, k int) float64 {
	if k < 0 {
		return float64(digit) / math.Pow10(-k)
	}
	return float64(digit) * math.Pow10(k)
}

// roundUp returns the smallest of 1, 2 and 5 times a power of ten that is not below v. v must be above
// 0.
func roundUp(v float64) float64 {
	k := int(math.Floor(math.Log10(v)))
	for _, digit := range []int{1, 2, 5} {
		if at := power(digit, k); at >= v*(1-tiny) {
			return at
		}
	}
	return power(1, k+1)
}

// roundDown returns the largest of 1, 2 and 5 times a power of ten that is not above v.
func roundDown(v float64) float64 {
	k := int(math.Floor(math.Log10(v)))
	for _, digit := range []int{5, 2, 1} {
		if at := power(digit, k); at <= v*(1+tiny) {
			return at
		}
	}
	return power(5, k-1)
}

// label returns the label of a value; thousands are written with k, M and G. Six digits are more than any tick has,
// so no two ticks have the same label.
func label(v float64) string {
	const digits = 6
	suffix := ""
	for _, s := range []string{"k", "M", "G"} {
		if math.Abs(v) < 1000*(1-tiny) {
			break
		}
		v, suffix = v/1000, s
	}
	return strconv.FormatFloat(v, 'g', digits, 64) + suffix
}
