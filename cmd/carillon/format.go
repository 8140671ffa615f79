package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/terminal"
)

// showTime returns an instant in UTC, with milliseconds if they are not zero; "-" is no instant. Tables have UTC,
// like the API and the log; the zone of a reader is not that of the server.
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

// showDistance returns how far away an instant is, as by terminal.Span: "in 1h59m", "3d ago".
func showDistance(d time.Duration) string {
	if d >= 0 {
		return "in " + terminal.Span(d)
	}
	return terminal.Span(-d) + " ago"
}

// showMillis returns a number of milliseconds as people read it. Two decimals are shown below ten milliseconds,
// where launches differ.
func showMillis(ms float64) string {
	switch {
	case ms == 0:
		return "0"
	case ms < 10:
		return fmt.Sprintf("%.2f ms", ms)
	case ms < 10_000:
		return fmt.Sprintf("%.0f ms", ms)
	default:
		return terminal.Span(time.Duration(ms * float64(time.Millisecond)))
	}
}

// showCount returns a number with its digits in groups of three.
func showCount[N ~int | ~uint64](n N) string {
	digits := fmt.Sprint(n)
	var b strings.Builder
	for i := range len(digits) {
		// No comma follows the sign.
		if i > 0 && (len(digits)-i)%3 == 0 && digits[i-1] != '-' {
			b.WriteByte(',')
		}
		b.WriteByte(digits[i])
	}
	return b.String()
}
