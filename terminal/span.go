package terminal

import (
	"fmt"
	"time"
)

// spanUnits are the units of Span, the largest first. A year has 365 days. There are no months, whose lengths differ,
// and whose letter is that of the minutes.
var spanUnits = []struct {
	name   string
	length time.Duration
}{
	{"y", 365 * 24 * time.Hour}, {"d", 24 * time.Hour}, {"h", time.Hour}, {"m", time.Minute}, {"s", time.Second},
}

// Span returns a length of time as people read it, in its two largest units and never rounded up: 1h59m, 3d, 250ms. D
// must not be negative. Two adjacent units are enough for what is read at a glance; the second one is left out if it is
// 0, so that 3d5m is 3d. Not rounding up means that what is "in 1m" is never closer than a minute.
func Span(d time.Duration) string {
	for i, u := range spanUnits {
		if d < u.length {
			continue
		}
		text := fmt.Sprintf("%d%s", d/u.length, u.name)
		if i+1 < len(spanUnits) {
			if rest := d % u.length / spanUnits[i+1].length; rest > 0 {
				text += fmt.Sprintf("%d%s", rest, spanUnits[i+1].name)
			}
		}
		return text
	}
	return fmt.Sprintf("%dms", d.Milliseconds())
}
