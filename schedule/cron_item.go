package schedule

import (
	"strconv"
	"strings"
)

// cronItem is one item of a field's list. A single value is a range of one. Both ends are included. high may be 7 in
// the day of week, for a range that ends on Sunday; star means that the item was written with one, which decides
// between fixed and wild schedules.
type cronItem struct {
	// In a parsed item, step is at least 1 and low is not above high.
	low, high, step int
	star            bool
}

// format returns an item in the form that the parser expects. The result has no redundant part, so that equal items
// have equal texts: 5-5 is 5, and 1-31/1 is 1-31.
func (f *cronField) format(it cronItem) string {
	switch {
	case it.star && it.step == 1:
		return "*"
	case it.star:
		return "*/" + strconv.Itoa(it.step)
	case it.high > f.high:
		return f.list(it)
	case it.low == it.high:
		return strconv.Itoa(it.low)
	case it.step == 1:
		return strconv.Itoa(it.low) + "-" + strconv.Itoa(it.high)
	}
	return strconv.Itoa(it.low) + "-" + strconv.Itoa(it.high) + "/" + strconv.Itoa(it.step)
}

// list returns the values of an item; values past the end of the field are wrapped around. The parser knows no range
// that wraps around, so 5-7 becomes 5,6,0.
func (f *cronField) list(it cronItem) string {
	var b strings.Builder
	size := f.high - f.low + 1
	last := it.high
	if last < it.low {
		last += size
	}
	for v := it.low; v <= last; v += it.step {
		if v > it.low {
			b.WriteByte(',')
		}
		b.WriteString(strconv.Itoa(f.low + (v-f.low)%size))
	}
	return b.String()
}

// unwrap returns a wrapped range in an allowed form. It appears in an error only, as the text that the caller can
// use instead.
func (f *cronField) unwrap(it cronItem) string {
	if it.step > 1 {
		return f.list(it)
	}
	if f.high == sunday-1 && it.high == 0 {
		return strconv.Itoa(it.low) + "-7"
	}
	return f.format(cronItem{low: it.low, high: f.high, step: 1}) + "," +
		f.format(cronItem{low: f.low, high: it.high, step: 1})
}
