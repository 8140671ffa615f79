package schedule

import (
	"strings"
	"time"

	"github.com/carillon-io/carillon/apierr"
	"github.com/carillon-io/carillon/instant"
)

// inPrefix begins a one-shot that counts from its acceptance.
const inPrefix = "@in"

// InMax is the longest time of an @in, about ten years; the shortest is 0.
const InMax = 3660 * 24 * time.Hour

// Settle returns expr with "@in 10m" replaced by "@at" and the instant so long after now, rounded up to the
// millisecond. Any other text is returned as it is, also one that is no schedule. Only a settled schedule can be
// compiled: what a job keeps must mean the same whenever it is read. The error is an [*apierr.Error] with the code
// [apierr.InvalidSchedule] and the field "schedule".
func Settle(expr string, now instant.Millis) (string, error) {
	if !strings.Contains(expr, inPrefix) {
		return expr, nil
	}
	zone, rest, err := cutZonePrefix(expr)
	if err != nil {
		return "", err
	}
	head, text, _ := strings.Cut(rest, " ")
	if head != inPrefix {
		return expr, nil
	}
	d, err := parseIn(strings.Trim(text, " "))
	if err != nil {
		return "", err
	}
	at := now + instant.MillisUp(d)
	if at >= instant.Max {
		return "", badSchedule("@in %q ends after the year 9999; want a time before it", apierr.Clip(text))
	}
	settled := atPrefix + " " + at.String()
	if zone != "" { // it is checked when the schedule is compiled
		settled = "CRON_TZ=" + zone + " " + settled
	}
	return settled, nil
}

// parseIn parses the time of an @in.
func parseIn(text string) (time.Duration, error) {
	d, ok := parseSpan(text, InMax)
	switch {
	case text == "":
		return 0, badSchedule("@in has no duration; want one such as @in 10m")
	case !ok:
		return 0, badSchedule("@in %q is no duration; want one such as 0s, 90s, 10m, 1h30m or 2d12h", apierr.Clip(text))
	case d > InMax:
		return 0, badSchedule("@in %q is out of range; want at most 3660d", apierr.Clip(text))
	}
	return d, nil
}
