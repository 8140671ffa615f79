package schedule

import (
	"strings"
	"time"

	"github.com/carillon-io/carillon/apierr"
	"github.com/carillon-io/carillon/instant"
)

// Bounds of @every. EveryMax is about ten years.
const (
	EveryMin = 10 * time.Millisecond
	EveryMax = 3660 * 24 * time.Hour
)

// everyPrefix begins a schedule of fixed distance.
const everyPrefix = "@every"

// compileEvery compiles an @every. It ignores the zone: the distance is elapsed time.
func (s *Schedule) compileEvery(text string) error {
	d, err := parseEvery(strings.TrimRight(text, " \t"))
	if err != nil {
		return err
	}
	s.kind, s.interval = Every, instant.Millis(d.Milliseconds())
	s.spec.Expr = everyPrefix + " " + formatEvery(d)
	return nil
}

// parseEvery parses the distance of an @every.
func parseEvery(text string) (time.Duration, error) {
	if text == "" {
		return 0, badSchedule("@every has no duration; want one such as @every 10s")
	}
	if text[0] == '-' || text[0] == '+' {
		return 0, badSchedule("@every %q has a sign; want a plain duration such as @every 10s", apierr.Clip(text))
	}
	d, ok := parseSpan(text, EveryMax)
	switch {
	case !ok:
		return 0, badSchedule("@every %q is no duration; want one such as 250ms, 10s, 1h30m, 7d or 1d12h", apierr.Clip(text))
	case d < EveryMin || d > EveryMax:
		return 0, badSchedule("@every %q is out of range; want at least 10ms and at most 3660d", apierr.Clip(text))
	case d%time.Millisecond != 0:
		return 0, badSchedule("@every %q is finer than a millisecond; want whole milliseconds", apierr.Clip(text))
	}
	return d, nil
}

// parseSpan parses a duration in Go's form, without a sign, optionally preceded by whole days of 24 hours. One that is
// longer than most, which has whole days, is returned as longer, however long it is. The days come first and are
// bounded before they are multiplied, so that no sum overflows.
func parseSpan(text string, most time.Duration) (d time.Duration, ok bool) {
	days, rest, ok := cutDays(text)
	if ok && rest != "" {
		var err error
		d, err = time.ParseDuration(rest)
		ok = err == nil && (rest[0] >= '0' && rest[0] <= '9' || rest[0] == '.')
	}
	if !ok || text == "" {
		return 0, false
	}
	if days > int64(most/(24*time.Hour)) || d > most {
		return most + 1, true
	}
	return d + time.Duration(days)*24*time.Hour, true
}

// cutDays separates the days at the front of a duration from the rest; days is 0 if there are none. It exists because
// [time.ParseDuration] has no days.
func cutDays(text string) (days int64, rest string, ok bool) {
	head, rest, found := strings.Cut(text, "d")
	if !found {
		return 0, text, true
	}
	if head == "" || len(head) > 9 {
		return 0, "", false
	}
	for i := range len(head) {
		if head[i] < '0' || head[i] > '9' {
			return 0, "", false
		}
		days = days*10 + int64(head[i]-'0')
	}
	return days, rest, true
}

// formatEvery returns the canonical text of a duration, without the zero units of [time.Duration.String]. One
// duration has one text, however it was written. d has whole milliseconds.
func formatEvery(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

// nextOnGrid returns the first point after an instant on the grid through anchor. It uses the anchor's remainder, so
// that no anchor, however distant, causes an overflow. The grid is infinite in both directions, so an anchor in the
// future does no harm. All three are in milliseconds; interval is at least EveryMin.
func nextOnGrid(after, anchor, interval instant.Millis) instant.Millis {
	return after - floorMod(after-floorMod(anchor, interval), interval) + interval
}

// latestOnGrid returns the last point at or before an instant on the grid through anchor.
func latestOnGrid(upto, anchor, interval instant.Millis) instant.Millis {
	return upto - floorMod(upto-floorMod(anchor, interval), interval)
}

// floorMod returns the remainder of a division that rounds down. It is never negative.
func floorMod(a, b instant.Millis) instant.Millis {
	r := a % b
	if r < 0 {
		r += b
	}
	return r
}
