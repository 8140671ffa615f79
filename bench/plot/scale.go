package plot

import (
	"math"
	"strconv"
)

// scale maps the values of an axis to pixels, and knows where its ticks are.
type scale struct {
	log       bool
	low, high float64 // values at the ends; low < high
	step      float64 // between the ticks of a linear scale
	from, to  float64 // pixels at the ends
}

// tick is a place on an axis. One without a label is a lesser one.
type tick struct {
	value float64
	label string
}

// ticksWanted is about how many ticks a linear scale has.
const ticksWanted = 5

// newScale makes a scale that begins and ends at round values around all that are given.
func newScale(a Axis, low, high, from, to float64) scale {
	s := scale{log: a.Log, from: from, to: to}
	if s.log {
		s.low, s.high = roundDown(low), roundUp(high)
		if s.low == s.high {
			s.high = roundUp(1.5 * s.low)
		}
		return s
	}
	if low >= 0 && low <= high/2 {
		low = 0 // the whole length tells more than the difference
	}
	if low == high {
		low, high = low-1, high+1
	}
	s.step = roundUp((high - low) / ticksWanted)
	s.low, s.high = math.Floor(low/s.step)*s.step, math.Ceil(high/s.step)*s.step
	return s
}

// pixel is where a value is.
func (s *scale) pixel(v float64) float64 {
	low, high := s.low, s.high
	if s.log {
		v, low, high = math.Log(v), math.Log(low), math.Log(high)
	}
	return s.from + (s.to-s.from)*(v-low)/(high-low)
}

// ticks returns the places to mark, in ascending order.
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

// logTicks marks the powers of ten. On a short scale 2 and 5 have labels too, on a long one the lesser
// ticks are left out, and on a very long one some powers have no label.
func (s *scale) logTicks() []tick {
	const short, long, veryLong = 2.5, 5, 10
	decades := math.Log10(s.high / s.low)
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

// tiny is more than the rounding errors of a few operations.
const tiny = 1e-9

// power is digit times ten to the k, as near as can be: a division is exact where a product with
// a negative power of ten would not be.
func power(digit, k int) float64 {
	if k < 0 {
		return float64(digit) / math.Pow10(-k)
	}
	return float64(digit) * math.Pow10(k)
}

// roundUp is the smallest of 1, 2 and 5 times a power of ten that is not below v, which is above 0.
func roundUp(v float64) float64 {
	k := int(math.Floor(math.Log10(v)))
	for _, digit := range []int{1, 2, 5} {
		if at := power(digit, k); at >= v*(1-tiny) {
			return at
		}
	}
	return power(1, k+1)
}

// roundDown is the largest of these that is not above v.
func roundDown(v float64) float64 {
	k := int(math.Floor(math.Log10(v)))
	for _, digit := range []int{5, 2, 1} {
		if at := power(digit, k); at <= v*(1+tiny) {
			return at
		}
	}
	return power(5, k-1)
}

// label writes a value for a tick: thousands as k, M and G.
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
