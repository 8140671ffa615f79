package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/carillon-io/carillon/client"
)

// showTime is an instant in UTC, to the millisecond where it has any.
func showTime(t client.Time) string {
	if t.IsZero() {
		return "-"
	}
	layout := "2006-01-02 15:04:05Z"
	if t.Nanosecond() != 0 {
		layout = "2006-01-02 15:04:05.000Z"
	}
	return t.UTC().Format(layout)
}

// showDistance is how far away an instant is, in the two largest units, cut and never rounded up.
func showDistance(d time.Duration) string {
	if d >= 0 {
		return "in " + showLength(d)
	}
	return showLength(-d) + " ago"
}

// units are those of showLength.
var units = []struct {
	name   string
	length time.Duration
}{
	{"y", 365 * 24 * time.Hour}, {"d", 24 * time.Hour}, {"h", time.Hour}, {"m", time.Minute}, {"s", time.Second},
}

func showLength(d time.Duration) string {
	for i, u := range units {
		if d < u.length {
			continue
		}
		text := fmt.Sprintf("%d%s", d/u.length, u.name)
		if i+1 < len(units) {
			if rest := d % u.length / units[i+1].length; rest > 0 {
				text += fmt.Sprintf("%d%s", rest, units[i+1].name)
			}
		}
		return text
	}
	return fmt.Sprintf("%dms", d.Milliseconds())
}

// showMillis is a number of milliseconds as people read it.
func showMillis(ms float64) string {
	switch {
	case ms == 0:
		return "0"
	case ms < 10:
		return fmt.Sprintf("%.2f ms", ms)
	case ms < 10_000:
		return fmt.Sprintf("%.0f ms", ms)
	default:
		return showLength(time.Duration(ms * float64(time.Millisecond)))
	}
}

// showCount groups the digits of a number.
func showCount[N ~int | ~uint64](n N) string {
	digits := fmt.Sprint(n)
	var b strings.Builder
	for i := range len(digits) {
		if i > 0 && (len(digits)-i)%3 == 0 && digits[i-1] != '-' {
			b.WriteByte(',')
		}
		b.WriteByte(digits[i])
	}
	return b.String()
}
