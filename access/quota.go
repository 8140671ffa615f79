package access

import (
	"math"
	"strconv"
	"strings"
)

// Quota bounds what a tenant uses. A zero is no bound.
type Quota struct {
	Jobs      int64
	Bytes     int64   // of its jobs in the store, with payloads
	Rate      float64 // requests per second
	LiveRuns  int64   // runs without an outcome
	InFlight  int64   // attempts under way
	Streams   int64   // pages and other readers that stay connected
	Calendars int64
}

func readQuota(n *node, what string, q *Quota) error {
	return readMapping(n, what,
		key{name: "jobs", read: count(&q.Jobs, "jobs of "+what)},
		key{name: "bytes", read: size(&q.Bytes, "bytes of "+what)},
		key{name: "rate", read: perSecond(&q.Rate, "rate of "+what)},
		key{name: "live_runs", read: count(&q.LiveRuns, "live_runs of "+what)},
		key{name: "in_flight", read: count(&q.InFlight, "in_flight of "+what)},
		key{name: "streams", read: count(&q.Streams, "streams of "+what)},
		key{name: "calendars", read: count(&q.Calendars, "calendars of "+what)})
}

// countMax bounds the numbers of a quota far above any use, so that sums of them do not overflow.
const countMax = 1 << 50

func count(to *int64, what string) func(*node) error {
	return func(n *node) error {
		v, err := strconv.ParseInt(n.value, 10, 64)
		if n.kind != kindScalar || err != nil || v < 1 || v > countMax {
			return wrong(n, "%s is %s; want a whole number of at least 1, or leave the key out for no bound", what, kindOf(n))
		}
		*to = v
		return nil
	}
}

// sizeUnits are the units of a size, the longest first.
var sizeUnits = []struct {
	name  string
	bytes int64
}{{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"TiB", 1 << 40}, {"kB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"TB", 1e12}, {"B", 1}, {"", 1}}

func size(to *int64, what string) func(*node) error {
	return func(n *node) error {
		for _, unit := range sizeUnits {
			number, has := strings.CutSuffix(n.value, unit.name)
			if !has {
				continue
			}
			v, err := strconv.ParseInt(strings.TrimSpace(number), 10, 64)
			if n.kind != kindScalar || err != nil || v < 1 || v > countMax/unit.bytes {
				break
			}
			*to = v * unit.bytes
			return nil
		}
		return wrong(n, "%s is %s; want a number of bytes, or a number with a unit such as 512MiB or 1GiB", what, kindOf(n))
	}
}

func perSecond(to *float64, what string) func(*node) error {
	return func(n *node) error {
		number, has := strings.CutSuffix(n.value, "/s")
		v, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
		if n.kind != kindScalar || !has || err != nil || math.IsNaN(v) || v < 0.001 || v > 1e9 {
			return wrong(n, "%s is %s; want requests per second, such as 500/s", what, kindOf(n))
		}
		*to = v
		return nil
	}
}
