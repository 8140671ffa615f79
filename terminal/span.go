package terminal

import (
	"fmt"
	"time"
)

// spanUnits are the units of Span, the largest first. A year has 365 days.
var spanUnits = []struct {
	name   string
	length time.Duration
}{
	{"y", 365 * 24 * time.Hour}, {"d", 24 * time.Hour}, {"h", time.Hour}, {"m", time.Minute}, {"s", time.Second},
}

// Span returns a length of time as people read it, in its two largest units and never rounded up: 1h59m, 3d, 250ms. D must
// not be negative.
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
