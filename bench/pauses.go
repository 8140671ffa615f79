package bench

import (
	"bufio"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// pauses are the pauses of the server's garbage collector, from its metrics. The runtime keeps the longest of a number
// of recent pauses only, so it cannot be attributed to a window.
type pauses struct {
	// count and seconds are since the start of the server.
	count   float64
	seconds float64
	longest float64 // longest of the last 256 pauses, in seconds
}

// readPauses reads the metrics of a server. A metric that is missing is 0. A server that cannot be read gives zeros,
// since the figures are only an aside.
func readPauses(srv *server) (p pauses) {
	c := http.Client{Timeout: 5 * time.Second}
	reply, err := c.Get(srv.ready.HTTP + "/metrics")
	if err != nil {
		return p
	}
	defer reply.Body.Close()
	lines := bufio.NewScanner(reply.Body)
	for lines.Scan() {
		name, text, ok := strings.Cut(lines.Text(), " ")
		value, err := strconv.ParseFloat(text, 64)
		// Comments of the text format are passed over.
		if !ok || err != nil {
			continue
		}
		switch name {
		case "go_gc_duration_seconds_count":
			p.count = value
		case "go_gc_duration_seconds_sum":
			p.seconds = value
		case `go_gc_duration_seconds{quantile="1"}`:
			p.longest = value
		}
	}
	return p
}

// since returns the pauses since an earlier reading. The longest may be older.
func (p pauses) since(earlier pauses) pauses {
	return pauses{count: p.count - earlier.count, seconds: p.seconds - earlier.seconds, longest: p.longest}
}

// tell adds the pauses to the result. They explain a late run and are no figure by themselves.
func (p pauses) tell(r *result) {
	r.add("gc_pauses", "garbage collections", p.count, "")
	r.add("gc_pause_sum_ms", "their pauses, together", p.seconds*1e3, "ms")
	r.add("gc_pause_max_ms", "the longest of late", p.longest*1e3, "ms")
}
