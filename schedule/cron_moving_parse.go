package schedule

import (
	"strconv"
	"strings"
)

// movingDate returns the normalised form of an item of the day of month with an L or a W, and false for any other
// item. Forms on whose meaning schedulers disagree are refused, with what would be clear.
func (f *cronField) movingDate(text string) (string, bool, error) {
	upper := strings.ToUpper(text)
	back, counted := strings.CutPrefix(upper, "L-")
	day, isWorkday := strings.CutSuffix(upper, "W")
	switch {
	case strings.Contains(text, "#"):
		return "", false, f.bad(text, "has #, the n-th weekday of a month, which belongs into the day of week, the last of five fields: 5#3")
	// Both are complete; the cases below have a number to read.
	case upper == "L" || upper == "LW":
		return upper, true, nil
	case counted:
		return f.daysBack(text, back)
	case isWorkday:
		return f.workday(text, day)
	case strings.Contains(upper, "L"):
		return "", false, f.bad(text, "has L with something else; want L for the last day, L-3 for the third before it or LW for the last weekday; 5L, the last Friday, belongs into the day of week")
	}
	return "", false, nil
}

// daysBack normalises L-n. A month that is too short for the count has no such day.
func (f *cronField) daysBack(text, back string) (string, bool, error) {
	n, ok := parseDigits(back)
	if !ok || n < 1 || n >= f.high {
		return "", false, f.bad(text, "does not count back to a day; want L, or L-1 to L-%d", f.high-1)
	}
	return "L-" + strconv.Itoa(n), true, nil
}

// workday normalises a day with a W. W stands for the nearest weekday within the month, so 1W on a Saturday is
// Monday the third.
func (f *cronField) workday(text, day string) (string, bool, error) {
	n, ok := parseDigits(day)
	if !ok {
		return "", false, f.bad(text, "has a W without one day in front; want 15W for the weekday nearest to the 15th, or LW for the last one")
	}
	if n < f.low || n > f.high {
		return "", false, f.bad(text, "has %d, which is out of range; want %dW-%dW", n, f.low, f.high)
	}
	return strconv.Itoa(n) + "W", true, nil
}

// movingWeekday returns the normalised form of an item of the day of week with an L or a #, and false for any other
// item.
func (f *cronField) movingWeekday(text string) (string, bool, error) {
	upper := strings.ToUpper(text)
	day, nth, numbered := strings.Cut(text, "#")
	switch {
	case numbered:
		return f.nthWeekday(text, day, nth)
	case upper == "L":
		return "", false, f.bad(text, "is Saturday to some and Sunday to others; want 6 or 0, or 5L for the last Friday of the month")
	case strings.HasPrefix(upper, "L"):
		return "", false, f.bad(text, "counts from the last day, which belongs into the day of month; want 5L for the last Friday of the month")
	case strings.HasSuffix(upper, "W"):
		return "", false, f.bad(text, "has W, the nearest weekday, which belongs into the day of month; want 1-5 for Monday to Friday")
	case strings.HasSuffix(upper, "L"):
		return f.lastWeekday(text, text[:len(text)-1])
	}
	return "", false, nil
}

// nthWeekday normalises day#n. A fifth weekday that a month does not have is no tick in that month.
func (f *cronField) nthWeekday(text, day, nth string) (string, bool, error) {
	n, ok := parseDigits(nth)
	if !ok || n < 1 || n > 5 {
		return "", false, f.bad(text, "has no number from 1 to 5 after the #; want 5#3 for the third Friday, 5L for the last")
	}
	weekday, err := f.oneWeekday(text, day)
	return weekday + "#" + strconv.Itoa(n), err == nil, err
}

// lastWeekday normalises a weekday with an L.
func (f *cronField) lastWeekday(text, day string) (string, bool, error) {
	weekday, err := f.oneWeekday(text, day)
	return weekday + "L", err == nil, err
}

// oneWeekday returns the number of a single weekday, with Sunday as 0. A list or a range in front of # or L has no
// agreed meaning, so each weekday is an item of its own.
func (f *cronField) oneWeekday(text, day string) (string, error) {
	if strings.ContainsAny(day, "*-/") || day == "" {
		return "", f.bad(text, "does not name one weekday; want 5L, 5#3, or a list such as 1#1,5#1")
	}
	n, err := f.parseValue(text, day)
	return strconv.Itoa(n % sunday), err
}
