package job

import (
	"strings"
	"time"
)

// The bounds of @every. EveryMax is about ten years.
const (
	EveryMin = 10 * time.Millisecond
	EveryMax = 3660 * 24 * time.Hour
)

// everyPrefix begins a schedule of fixed distance.
const everyPrefix = "@every"

func (s *Schedule) compileEvery(text string) error {
	d, err := parseEvery(strings.TrimRight(text, " \t"))
	if err != nil {
		return err
	}
	s.kind, s.interval = ScheduleEvery, Millis(d.Milliseconds())
	s.spec.Expr = everyPrefix + " " + formatEvery(d)
	return nil
}

// parseEvery reads a duration as Go writes it, with whole days allowed in front.
func parseEvery(text string) (time.Duration, error) {
	if text == "" {
		return 0, badSchedule("@every has no duration; want one such as @every 10s")
	}
	if text[0] == '-' || text[0] == '+' {
		return 0, badSchedule("@every %q has a sign; want a plain duration such as @every 10s", clip(text))
	}
	days, rest, ok := cutDays(text)
	var d time.Duration
	if ok && rest != "" {
		var err error
		d, err = time.ParseDuration(rest)
		ok = err == nil && (rest[0] >= '0' && rest[0] <= '9' || rest[0] == '.')
	}
	if !ok {
		return 0, badSchedule("@every %q is no duration; want one such as 250ms, 10s, 1h30m, 7d or 1d12h", clip(text))
	}
	if days > int64(EveryMax/(24*time.Hour)) || d > EveryMax {
		return 0, badEvery(text)
	}
	d += time.Duration(days) * 24 * time.Hour
	if d < EveryMin || d > EveryMax {
		return 0, badEvery(text)
	}
	if d%time.Millisecond != 0 {
		return 0, badSchedule("@every %q is finer than a millisecond; want whole milliseconds", clip(text))
	}
	return d, nil
}

func badEvery(text string) error {
	return badSchedule("@every %q is out of range; want at least 10ms and at most 3660d", clip(text))
}

// cutDays takes the days off the front of a duration; without any they are 0.
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

// formatEvery writes the one text of a duration, without the zero units of [time.Duration.String].
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

// nextOnGrid returns the first point after an instant on the grid through anchor. It works with the
// anchor's remainder, so that no anchor, however far away, overflows.
func nextOnGrid(after, anchor, interval Millis) Millis {
	return after - floorMod(after-floorMod(anchor, interval), interval) + interval
}

// latestOnGrid returns the last point not after an instant on the grid through anchor.
func latestOnGrid(upto, anchor, interval Millis) Millis {
	return upto - floorMod(upto-floorMod(anchor, interval), interval)
}

// floorMod returns the remainder of the division that rounds down: it is never negative.
func floorMod(a, b Millis) Millis {
	r := a % b
	if r < 0 {
		r += b
	}
	return r
}
