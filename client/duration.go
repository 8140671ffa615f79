package client

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Duration is a length of time in the notation of the API: "90s", "1h30m", "7d", "1d12h". A day has 24
// hours.
type Duration time.Duration

// day ignores changes of the clock: a duration is elapsed time.
const day = 24 * time.Hour

// daysMax is the largest number of whole days that a [time.Duration] holds.
const daysMax = int64(1<<63-1) / int64(day)

// ParseDuration parses a duration: optional whole days, then the notation of [time.ParseDuration],
// without a sign.
func ParseDuration(s string) (Duration, error) {
	head, rest, hasDays := strings.Cut(s, "d")
	if !hasDays {
		head, rest = "", s
	}
	var days int64
	var err error
	if hasDays {
		days, err = strconv.ParseInt(head, 10, 64)
	}
	var d time.Duration
	if !hasDays || rest != "" {
		var parseErr error
		d, parseErr = time.ParseDuration(rest)
		if err == nil {
			err = parseErr
		}
	}
	switch {
	case err != nil || !startsPlain(s) || hasDays && rest != "" && !startsPlain(rest):
		return 0, fmt.Errorf(`client: %q is no duration; want one such as "250ms", "90s", "1h30m" or "7d"`, clip(s))
	case days > daysMax || d > time.Duration(1<<63-1)-time.Duration(days)*day:
		return 0, fmt.Errorf("client: %q is too long; a duration is at most 106751 days", clip(s))
	}
	return Duration(time.Duration(days)*day + d), nil
}

// startsPlain reports whether a duration begins with a digit, not with a sign or a dot.
func startsPlain(s string) bool { return s != "" && s[0] >= '0' && s[0] <= '9' }

// String returns the shortest text that [ParseDuration] parses to the same duration.
func (d Duration) String() string { return string(d.appendText(make([]byte, 0, 24))) }

// appendText appends the text of String.
func (d Duration) appendText(b []byte) []byte {
	rest := time.Duration(d)
	if days := rest / day; days > 0 {
		b = append(strconv.AppendInt(b, int64(days), 10), 'd')
		if rest -= days * day; rest == 0 {
			return b
		}
	}
	text := rest.String()
	if strings.HasSuffix(text, "m0s") {
		text = text[:len(text)-len("0s")]
	}
	if strings.HasSuffix(text, "h0m") {
		text = text[:len(text)-len("0m")]
	}
	return append(b, text...)
}

// AppendText implements [encoding.TextAppender].
func (d Duration) AppendText(b []byte) ([]byte, error) { return d.appendText(b), nil }

// MarshalText implements [encoding.TextMarshaler].
func (d Duration) MarshalText() ([]byte, error) { return d.appendText(nil), nil }

// UnmarshalText implements [encoding.TextUnmarshaler].
func (d *Duration) UnmarshalText(text []byte) (err error) {
	*d, err = ParseDuration(string(text))
	return err
}

// clip shortens a text for an error message.
func clip(s string) string {
	const most = 80
	if len(s) <= most {
		return s
	}
	return s[:most] + "…"
}
