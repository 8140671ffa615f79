package scheduler

import (
	"fmt"
	"strings"
)

// figuresText renders how punctual an engine is, and what its runs wait for.
func figuresText(st Status) string {
	var b strings.Builder
	fmt.Fprintf(&b, "late %d max=%s\n", st.Lateness.Count, st.Lateness.Max)
	for reason := range WaitReasons {
		if l := st.Waited[reason]; l.Count > 0 {
			fmt.Fprintf(&b, "waited for %s %d max=%s\n", reason, l.Count, l.Max)
		}
	}
	fmt.Fprintf(&b, "now scheduled=%d retrying=%d backlog=%d flying=%d\n", st.Scheduled, st.Retrying, st.Backlog, st.InFlight)
	return b.String()
}
