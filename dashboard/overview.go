package dashboard

import (
	"maps"
	"slices"
	"sort"

	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/scheduler"
)

// overview is the content of the first page, besides the status that each page has. Hour is nil if the server gives
// no status of an engine.
type overview struct {
	Rate   float64 // runs fired per second
	Waits  []waitRow
	Levels []level
	Hour   *chart
	// Day is nil until a minute is in the daybook.
	Day *dayChart
	// Skips is empty if nothing was skipped since the start.
	Skips []skip
}

// skip is the number of runs skipped for one reason.
type skip struct {
	Reason string
	Count  uint64
}

// overview returns the first page: the status of the node, its charts and its cluster. The figures come through the
// API, as for any caller, and the charts from the engine of this node. The figures of a page on a standby are those
// of that standby: it follows the leader and launches nothing.
func (v *visit) overview() view {
	p := view{page: "overview", title: "Overview", active: "/", live: []string{"attention", "figures", "lateness", "hour", "day", "engine", "nodes"}}
	body := &overview{}
	p.body = body
	status, err := v.client.Status(v.req.Context())
	if err != nil {
		p.err = err
		return p
	}
	body.Skips, body.Waits = skipsOf(&status), waitsOf(&status.Waited)
	if read := v.dashboard.opts.Status; read != nil {
		body.fill(v, read())
	}
	return p
}

// fill draws the charts. Without a status function, Hour stays nil and the template leaves the charts out.
func (o *overview) fill(v *visit, status scheduler.Status) {
	r := v.dashboard.recorder
	o.Rate = r.rate(v.now, status.Fired)
	hour := drawHour(r.samples(), v.now)
	o.Levels, o.Hour = levels(&status.Lateness), &hour
	if book := v.dashboard.opts.Daybook; book != nil {
		o.Day = drawDay(book.Since(dayStart(v.now), v.now), v.now, v.clockOf(""))
	}
}

// waitRow says how long attempts waited for one cause.
type waitRow struct {
	Reason, Label string
	Spread        client.Lateness
}

// waitsOf lists the causes for which attempts waited. Causes that have not occurred are left out.
func waitsOf(w *client.Waited) []waitRow {
	list := []waitRow{
		{"overlap", "the turn of their job", w.Overlap}, {"catch_up", "catching up", w.CatchUp},
		{"target", "a place at their target", w.Target}, {"retry", "another attempt", w.Retry},
	}
	return slices.DeleteFunc(list, func(r waitRow) bool { return r.Spread.Count == 0 })
}

// skipsOf lists the reasons of skipped runs, the most frequent first. Equal counts are in the order of the reasons,
// so that a live page does not change its order without a reason.
func skipsOf(s *client.Status) []skip {
	list := make([]skip, 0, len(s.SkippedBy))
	for _, reason := range slices.Sorted(maps.Keys(s.SkippedBy)) {
		list = append(list, skip{reason, s.SkippedBy[reason]})
	}
	sort.SliceStable(list, func(i, j int) bool { return list[i].Count > list[j].Count })
	return list
}
