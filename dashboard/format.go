package dashboard

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html/template"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/carillon-io/carillon/client"
)

// functions lists the functions that templates can call. Whatever else a page shows is computed in Go.
var functions = template.FuncMap{
	"figure": figure, "millis": millis, "shown": shownText, "tone": tone, "pretty": pretty, "rate": rate, "offset": offset, "stripWidth": func(s []stroke) float64 { return strokeStep * float64(len(s)) },
}

// instant is the texts that a page shows for a point in time.
type instant struct {
	ISO      string // for the datetime attribute
	Exact    string // by the clock of the page
	Relative string // distance to now; "" if the time is zero
}

// instantOf returns the texts for t by a clock, as seen at now. Milliseconds are shown only if there are any: scheduled
// times mostly have none.
func instantOf(t client.Time, by clock, now time.Time) instant {
	if t.IsZero() {
		return instant{}
	}
	layout := "2006-01-02 15:04:05"
	if t.Nanosecond() != 0 {
		layout += ".000"
	}
	return instant{ISO: t.String(), Exact: t.In(by.loc).Format(layout + " MST"), Relative: relative(t.Sub(now))}
}

// relative returns the text of a distance from now; negative is in the past. Below a second it is "now" in both
// directions: the page is older than that when it is read.
func relative(d time.Duration) string {
	switch {
	case d >= time.Second:
		return "in " + span(d)
	case d <= -time.Second:
		return span(-d) + " ago"
	default:
		return "now"
	}
}

// span returns a length of time with its two largest units, rounded down.
func span(d time.Duration) string {
	s := int64(d / time.Second)
	switch {
	case s < 60:
		return fmt.Sprintf("%d s", s)
	case s < 600:
		return fmt.Sprintf("%d m %d s", s/60, s%60)
	case s < 3600:
		return fmt.Sprintf("%d m", s/60)
	case s < 86400:
		return fmt.Sprintf("%d h %d m", s/3600, s/60%60)
	case s < 10*86400:
		return fmt.Sprintf("%d d %d h", s/86400, s/3600%24)
	case s < 1000*86400:
		return fmt.Sprintf("%d d", s/86400)
	default:
		return fmt.Sprintf("%d years", s/(365*86400))
	}
}

// millis returns a number of milliseconds in a suitable unit: milliseconds, seconds, or as span does.
func millis(ms float64) string {
	switch {
	case ms == 0:
		return "0 ms"
	case ms < 10:
		return strconv.FormatFloat(ms, 'f', 2, 64) + " ms"
	case ms < 1000:
		return strconv.FormatFloat(ms, 'f', 0, 64) + " ms"
	case ms < 60_000:
		return strconv.FormatFloat(ms/1000, 'f', 2, 64) + " s"
	default:
		return span(time.Duration(ms) * time.Millisecond)
	}
}

// offset returns the text of a clock's distance from another clock, in milliseconds. A negative one is behind.
func offset(ms float64) string {
	if ms < 0 {
		return "−" + millis(-ms)
	}
	return "+" + millis(ms)
}

// rate returns the text of a number per second.
func rate(perSecond float64) string {
	if perSecond == 0 || perSecond >= 100 {
		return figure(fmt.Sprintf("%.0f", perSecond))
	}
	return fmt.Sprintf("%.1f", perSecond)
}

// figure returns a whole number with commas between thousands. Other values are returned as text, unchanged. It takes
// any type, because templates pass numbers of all sizes.
func figure(n any) string {
	s := fmt.Sprint(n)
	if _, err := strconv.ParseUint(s, 10, 64); err != nil {
		return s
	}
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// shownText replaces characters that are invisible or that change the direction of the text around them,
// such as those that could make a job's name look like another one. Templates escape markup; this is about
// characters that deceive a reader and that escaping keeps.
func shownText(s string) string {
	if !strings.ContainsFunc(s, isHidden) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		switch {
		case !isHidden(r):
			b.WriteRune(r)
		case r < ' ':
			b.WriteRune('\u2400' + r)
		default:
			fmt.Fprintf(&b, "[U+%04X]", r)
		}
	}
	return b.String()
}

// isHidden reports whether a character is invisible or changes the direction of text.
func isHidden(r rune) bool {
	return r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == '\u2028' || r == '\u2029')
}

// pretty returns JSON with indented lines. A text that is not JSON is returned unchanged. It changes only whitespace,
// so that numbers are shown as they were sent.
func pretty(text []byte) string {
	var b bytes.Buffer
	if json.Indent(&b, text, "", "  ") != nil {
		return string(text)
	}
	return b.String()
}

// tone returns the CSS class of a status: good, busy, warn, bad or still. Those without a tone of their own, such
// as skipped, cancelled and completed, get still.
func tone(status string) string {
	switch status {
	case "succeeded", "active", "leader":
		return "good"
	case "running", "pending", "standby", "joining", "candidate":
		return "busy"
	case "retrying", "paused":
		return "warn"
	case "failed", "dead":
		return "bad"
	default:
		return "still"
	}
}
