package schedule

import (
	"strings"
	"time"

	"github.com/carillon-io/carillon/apierr"
	"github.com/carillon-io/carillon/instant"
)

// atPrefix begins a one-shot.
const atPrefix = "@at"

// compileAt compiles a one-shot. One outside of its window is refused, because it could only be a mistake.
func (s *Schedule) compileAt(text string) error {
	at, err := parseAt(text)
	if err != nil {
		return err
	}
	if at < s.from || at >= s.until {
		return badSchedule("@at %s is not between starts_at and ends_at, so it would never run; want no window with @at", at)
	}
	s.kind, s.at = At, at
	return nil
}

// parseAt parses a time and rounds it up to the millisecond, so that a run is never early.
func parseAt(text string) (instant.Millis, error) {
	text = strings.TrimRight(text, " \t")
	// A time without a zone is no time here: the zone of a job does not apply to a one-shot.
	at, ok := parseInstant(text)
	if !ok {
		return 0, badSchedule("@at %q is no time; want RFC 3339 with a zone, such as @at 2026-12-01T08:00:00Z or @at 2026-12-01T08:00:00.250+01:00", apierr.Clip(text))
	}
	if at <= 0 || at >= instant.Max {
		return 0, badSchedule("@at %q is out of range; want a time after 1970-01-01T00:00:00Z and before the end of 9999", apierr.Clip(text))
	}
	return at, nil
}

// parseInstant parses an RFC 3339 time, rounded up to the millisecond. It is used for ends of ranges too.
func parseInstant(text string) (instant.Millis, bool) {
	t, err := time.Parse(time.RFC3339, text)
	if err != nil || !isStrict(text) {
		return 0, false
	}
	return instant.Up(t), true
}

// isStrict reports whether a time that package time accepted is strictly RFC 3339. Package time also accepts an hour
// of one digit, a comma as the decimal point and offsets of days, and drops digits after the ninth. The text is at
// least as long as its fixed part, because package time has accepted it.
func isStrict(text string) bool {
	const fraction = len("2026-12-01T08:00:00")
	// With an hour of one digit everything behind it is one place further to the left.
	if text[len("2026-12-01T08")] != ':' {
		return false
	}
	zone := fraction
	if text[zone] == '.' {
		// A zone is there, because package time demands one.
		zone = fraction + strings.IndexAny(text[fraction:], "Z+-")
	}
	if zone-fraction > len(".123456789") {
		return false
	}
	return text[zone] == 'Z' || text[zone] != ',' && text[zone+1:] < "24" && text[len(text)-2:] < "60"
}
