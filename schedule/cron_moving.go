package schedule

import (
	"math/bits"
	"strconv"
	"strings"
	"time"
)

// movingDays are the items of the day fields whose dates differ from month to month. The zero value has none. A set
// of bits for each form, because a field may list several of them. Immutable after it is made.
type movingDays struct {
	last    uint32 // bit n: n days before the last of the month (L, L-n)
	workday uint32 // bit n: the weekday, Monday to Friday, nearest to day n (15W); bit 0: the last one (LW)
	nth     uint64 // bit 7*n+d: the n-th weekday d of the month (5#3); with n = 0 the last one (5L)
}

// byDate returns the days that the items of the day of month match, bit n for day n, in a month with the given length
// whose first day is the given weekday. Bits beyond the length are meaningless.
func (d *movingDays) byDate(weekday, length int) uint32 {
	days := bits.Reverse32(d.last) >> (31 - length)
	for rest := d.workday; rest != 0; rest &= rest - 1 {
		days |= 1 << nearestWorkday(bits.TrailingZeros32(rest), weekday, length)
	}
	return days
}

// nearestWorkday returns the day from Monday to Friday that is nearest to a day, within the month. Day 0 means the
// last day. It returns 0 if the month has no such day. weekday is that of the first of the month. It never leaves the
// month, so that a run of the first does not come in the month before.
func nearestWorkday(day, weekday, length int) int {
	switch {
	case day > length:
		return 0
	case day == 0:
		day = length
	}
	switch time.Weekday((weekday + day - 1) % 7) {
	case time.Saturday:
		if day == 1 {
			return 3
		}
		return day - 1
	case time.Sunday:
		// The Monday after would be in the next month.
		if day == length {
			return day - 2
		}
		return day + 1
	}
	return day
}

// byWeek returns the same for the items of the day of week. A fifth weekday that the month does not have sets a bit
// beyond its end, which pattern.days masks.
func (d *movingDays) byWeek(weekday, length int) uint32 {
	var days uint32
	for rest := d.nth; rest != 0; rest &= rest - 1 {
		n := bits.TrailingZeros64(rest)
		day := 1 + (n%7-weekday+7)%7 // the first day with that weekday
		switch {
		case n >= 7:
			day += 7 * (n/7 - 1)
		// The fifth one is the last one; otherwise it is the fourth.
		case day+28 <= length:
			day += 28
		default:
			day += 21
		}
		days |= 1 << day
	}
	return days
}

// newMovingDays parses normalised items of the two day fields; it returns nil if there are none. Most schedules
// have none, so a pattern has a pointer and not the sets themselves.
func newMovingDays(dates, weekdays []string) *movingDays {
	if len(dates)+len(weekdays) == 0 {
		return nil
	}
	d := &movingDays{}
	for _, item := range dates {
		d.add(item)
	}
	for _, item := range weekdays {
		d.add(item)
	}
	return d
}

// cutMoving separates the moving items of a normalised day field from the others. A field with a name such as JUL
// cannot come here: it is normalised, so letters occur in moving items only.
func cutMoving(field string) (plain string, moving []string) {
	if !strings.ContainsAny(field, "LW#") {
		return field, nil
	}
	var rest []string
	for item := range strings.SplitSeq(field, ",") {
		if strings.ContainsAny(item, "LW#") {
			moving = append(moving, item)
		} else {
			rest = append(rest, item)
		}
	}
	return strings.Join(rest, ","), moving
}

// add adds a normalised item of either day field.
func (d *movingDays) add(item string) {
	number := func(text string) int {
		n, _ := strconv.Atoi(text) // a normalised text has digits here
		return n
	}
	if day, n, found := strings.Cut(item, "#"); found {
		d.nth |= 1 << (7*number(n) + number(day))
		return
	}
	switch before, after, _ := strings.Cut(item, "L"); {
	case after == "W":
		d.workday |= 1
	case strings.HasSuffix(item, "W"):
		d.workday |= 1 << number(strings.TrimSuffix(item, "W"))
	case before != "":
		d.nth |= 1 << number(before)
	case after == "":
		d.last |= 1
	default:
		d.last |= 1 << number(after[1:])
	}
}
