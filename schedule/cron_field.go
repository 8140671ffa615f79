package schedule

import (
	"strings"

	"github.com/carillon-io/carillon/apierr"
)

// cronField describes what one field of a cron expression may contain. low and high are the bounds of the values,
// both included. The table of fields is the only place that knows them.
type cronField struct {
	// name is that in errors.
	name      string
	low, high int
	// A name is not case-sensitive and stands for the number low plus its index.
	names []string // of the values from low, if they have names

	// moving returns the normalised form of an item whose date differs from month to month, and false for any other
	// item. It is nil in fields without such items.
	moving func(f *cronField, text string) (string, bool, error)
}

var (
	// They are three letters of English, as in all crons; full names are refused with the short one as advice.
	monthNames = []string{"jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"}
	// Sunday is first, with the number 0.
	dayNames = []string{"sun", "mon", "tue", "wed", "thu", "fri", "sat"}
)

// cronFields are the seven fields in their order. An expression of six fields leaves out the last, one of five the
// first too.
var cronFields = [...]cronField{
	{name: "second", low: 0, high: 59},
	{name: "minute", low: 0, high: 59},
	{name: "hour", low: 0, high: 23},
	{name: "day of month", low: 1, high: 31, moving: (*cronField).movingDate},
	{name: "month", low: 1, high: 12, names: monthNames},
	{name: "day of week", low: 0, high: 6, names: dayNames, moving: (*cronField).movingWeekday},
	{name: "year", low: yearMin, high: yearMax},
}

// cronText is the fields of an expression as text.
type cronText [len(cronFields)]string

// The places of the fields in cronFields.
const (
	fieldSecond = iota
	fieldMinute
	fieldHour
	fieldDom
	fieldMonth
	fieldDow
	fieldYear
)

// sunday is the other number of Sunday, which makes 5-7 a range. It exists only in texts: normalised items have 0.
const sunday = 7

// normalise returns the normalised form of a field: numbers for names, no leading zeros, Sunday as 0, and no
// redundant range or step. Equal schedules thus have equal texts, so jobs can share a profile.
func (f *cronField) normalise(text string) (string, error) {
	items := strings.Split(text, ",")
	for i, item := range items {
		if f.moving != nil {
			word, ok, err := f.moving(f, item)
			if err != nil {
				return "", err
			}
			if ok {
				items[i] = word
				continue
			}
		}
		it, err := f.parseItem(item)
		if err != nil {
			return "", err
		}
		// It matters whether the field begins with a star, so a star is allowed nowhere else.
		if it.star && (i > 0 || it.step == 1 && len(items) > 1) {
			return "", f.bad(text, "has a star inside a list; want the star alone, which */1 is too, or */n first")
		}
		items[i] = f.format(it)
	}
	return strings.Join(items, ","), nil
}

// bad returns an error about a field, with the item that is wrong.
func (f *cronField) bad(text, format string, args ...any) error {
	return badSchedule("%s field %q "+format, append([]any{f.name, apierr.Clip(text)}, args...)...)
}

// parseItem parses an item of a list. A range that wraps around is refused with the form that means the same, because
// readers disagree whether 22-2 is allowed.
func (f *cronField) parseItem(text string) (it cronItem, err error) {
	if text == "" {
		return it, f.bad(text, "has an empty list item; want values joined by single commas, such as 1,15")
	}
	span, step, stepped := strings.Cut(text, "/")
	if it, err = f.parseSpan(text, span, stepped); err != nil {
		return it, err
	}
	it.step = 1
	if stepped {
		if it.step, err = f.parseStep(text, step, it); err != nil {
			return it, err
		}
	}
	if it.low > it.high {
		return it, f.bad(text, "wraps around; want %s", f.unwrap(it))
	}
	return it, nil
}

// parseSpan parses the part before the step: a star, a value or a range.
func (f *cronField) parseSpan(text, span string, stepped bool) (it cronItem, err error) {
	if span == "*" {
		return cronItem{low: f.low, high: f.high, star: true}, nil
	}
	low, high, ranged := strings.Cut(span, "-")
	if it.low, err = f.parseValue(text, low); err != nil {
		return it, err
	}
	switch {
	case ranged:
		it.high, err = f.parseValue(text, high)
		if f.high == sunday-1 && it.high == 0 && it.low > 0 && strings.EqualFold(high, dayNames[0]) {
			it.high = sunday // fri-sun can only mean one thing
		}
	// A single value with a step goes on to the end of the field: 10/15 is 10, 25, 40 and 55.
	case stepped:
		it.high = f.high
	default:
		it.high = it.low
	}
	if it.low == sunday && f.high == sunday-1 && it.high < sunday {
		it.low = 0 // a week that begins on Sunday
	}
	return it, err
}

// parseValue parses a number or a name.
func (f *cronField) parseValue(text, word string) (int, error) {
	for i, name := range f.names {
		if strings.EqualFold(word, name) {
			return f.low + i, nil
		}
	}
	n, ok := parseDigits(word)
	if !ok {
		return 0, f.bad(text, "%s", f.explain(word))
	}
	if f.high == sunday-1 && n >= yearMin {
		return 0, f.bad(text, "has %s, a year; want all seven fields for one, a second first: 0 0 8 1 1 ? %s", word, word)
	}
	if n < f.low || n > f.high && !(f.high == sunday-1 && n == sunday) {
		return 0, f.bad(text, "has %s, which is out of range; want %d-%d", word, f.low, f.high)
	}
	return n, nil
}

// parseStep parses a step. A step that leaves only the first value of its range is refused: */60 looks like "every 60
// minutes", and 5-5/3 like something else again.
func (f *cronField) parseStep(text, step string, it cronItem) (int, error) {
	n, ok := parseDigits(step)
	span := it.high - it.low
	if span < 0 {
		span += f.high - f.low + 1
	}
	switch {
	case !ok:
		return 0, f.bad(text, "has no number after the slash; want a step such as */5")
	case n == 0:
		return 0, f.bad(text, "has a step of 0; want at least 1")
	case n > 1 && n > span:
		return 0, f.bad(text, "has a step of %d, beyond its range: only %d would match; want %d, or a smaller step", n, it.low, it.low)
	}
	return n, nil
}

// parseDigits parses a small number that consists of digits only. Four digits are enough for a year, and cannot
// overflow when they are multiplied.
func parseDigits(s string) (int, bool) {
	if s == "" || len(s) > 4 {
		return 0, false
	}
	n := 0
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return 0, false
		}
		n = n*10 + int(s[i]-'0')
	}
	return n, true
}
