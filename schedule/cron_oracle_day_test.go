package schedule

import (
	"strconv"
	"strings"
	"time"
)

// oracleDay reads an item whose day moves from month to month, in lower case; nil is any other item.
func oracleDay(field int, item string) func(time.Time) bool {
	number := func(text string) int { n, _ := strconv.Atoi(text); return n }
	switch {
	case field == 3 && item == "lw":
		return func(d time.Time) bool {
			rest := d.AddDate(0, 0, 1)
			for ; rest.Month() == d.Month(); rest = rest.AddDate(0, 0, 1) {
				if isWorkday(rest) {
					return false
				}
			}
			return isWorkday(d)
		}
	case field == 3 && strings.HasPrefix(item, "l"):
		n := number(strings.TrimPrefix(strings.TrimPrefix(item, "l"), "-"))
		return func(d time.Time) bool { return d.Day() == lastDay(d)-n }
	case field == 3 && strings.HasSuffix(item, "w"):
		n := number(strings.TrimSuffix(item, "w"))
		return func(d time.Time) bool { return oracleWorkday(d, n) == d.Day() }
	case field == 5 && strings.HasSuffix(item, "l"):
		n := number(strings.TrimSuffix(item, "l"))
		return func(d time.Time) bool { return int(d.Weekday()) == n%7 && d.AddDate(0, 0, 7).Month() != d.Month() }
	case field == 5 && strings.Contains(item, "#"):
		day, nth, _ := strings.Cut(item, "#")
		return func(d time.Time) bool {
			return int(d.Weekday()) == number(day)%7 && (d.Day()-1)/7+1 == number(nth)
		}
	}
	return nil
}

func isWorkday(d time.Time) bool { return d.Weekday() != time.Saturday && d.Weekday() != time.Sunday }

func lastDay(d time.Time) int {
	return time.Date(d.Year(), d.Month()+1, 0, 0, 0, 0, 0, time.UTC).Day()
}

// oracleWorkday looks for the nearest workday by trying distances.
func oracleWorkday(d time.Time, n int) int {
	if n > lastDay(d) {
		return 0
	}
	for away := 0; ; away++ {
		for _, day := range []int{n - away, n + away} {
			if day >= 1 && day <= lastDay(d) && isWorkday(time.Date(d.Year(), d.Month(), day, 0, 0, 0, 0, time.UTC)) {
				return day
			}
		}
	}
}

func (o *oracle) hasDay(field int, f [7]int) bool {
	if o.in[field][f[field]] {
		return true
	}
	for _, is := range o.moving[field] {
		if is(time.Date(f[6], time.Month(f[4]), f[3], 0, 0, 0, 0, time.UTC)) {
			return true
		}
	}
	return false
}

func (o *oracle) addYears(word string) {
	if word == "*" {
		return
	}
	o.years = map[int]bool{}
	for item := range strings.SplitSeq(word, ",") {
		item, by, stepped := strings.Cut(item, "/")
		first, last, ranged := strings.Cut(item, "-")
		step := 1
		if stepped {
			step, _ = strconv.Atoi(by)
		}
		if item == "*" {
			first, last, ranged = "1970", "2199", true
		}
		low, _ := strconv.Atoi(first)
		high := low
		if ranged {
			high, _ = strconv.Atoi(last)
		} else if stepped {
			high = 2199
		}
		for year := low; year <= high; year += step {
			o.years[year] = true
		}
	}
}
