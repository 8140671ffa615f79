package dashboard

import (
	"slices"
	"strconv"
	"strings"

	"github.com/carillon-io/carillon/client"
)

// timesMax bounds the number of times that the playground shows. The API allows more; a page of more is not read.
const timesMax = 100

// playgroundBody is the content of the playground: a schedule, and its next times. Asked tells a form without a
// schedule from a schedule without ticks.
type playgroundBody struct {
	Schedule, Exclude, Timezone, StartsAt, After, Count string
	ExactStart                                          string // StartsAt, for the form of a job
	// Times is empty before the form is sent, and if the schedule has no tick.
	Times    []tick
	Notes    []string
	Asked    bool
	Examples []example
	Zones    []string
	Fields   map[string]string // what is wrong, by field
}

// ZoneName returns the zone in which the times are shown.
func (b *playgroundBody) ZoneName() string { return zoneOf(b.Timezone, b.Schedule) }

// example is a schedule that the playground offers.
type example struct{ Schedule, Timezone, After, About string }

// Those about a change of the clock begin on a fixed day before one, so that they show it on every day of the year.
var examples = []example{
	{"*/15 * * * *", "", "", "every quarter of an hour"},
	{"0 8 * * 1-5", "Europe/Berlin", "", "at eight on working days, in Berlin"},
	{"30 2 * * *", "Europe/Berlin", "2027-03-27T00:00:00Z", "a time that the clock skips in spring"},
	{"30 1 * * *", "America/New_York", "2026-10-31T12:00:00Z", "a time that comes twice in autumn"},
	{"0 9 L * *", "", "", "on the last day of the month"},
	{"0 12 * * 1#1", "", "", "on the first Monday of the month"},
	{"@every 90s", "", "", "every ninety seconds"},
	{"@at 2030-01-01T00:00:00Z", "", "", "once"},
}

// playground returns the page on which a schedule can be tried. It registers nothing. Its address has the whole form,
// so that a schedule can be passed on as a link.
func (v *visit) playground() view {
	q, times := v.query, v.dashboard.typed(v.query.Get)
	by := v.clockOf(zoneOf(q.Get("timezone"), q.Get("schedule")))
	body := &playgroundBody{
		Schedule: q.Get("schedule"), Exclude: q.Get("exclude"), Timezone: q.Get("timezone"),
		StartsAt: times.shown("starts_at", by), ExactStart: times.exact("starts_at"), After: times.shown("after", by), Count: orElse(q.Get("count"), "10"),
		Examples: examples, Zones: zones,
	}
	p := view{page: "playground", title: "When would it fire?", active: "/playground", body: body}
	if body.Schedule == "" {
		return p
	}
	request, err := nextRequest(times)
	var reply client.NextReply
	if err == nil {
		reply, err = v.client.Next(v.req.Context(), request)
	}
	if err != nil {
		p.err = err
		body.Fields = fieldErrors(err)
		return p
	}
	body.Asked, body.Notes, body.Times = true, reply.Notes, v.ticksOf(reply.Times, body.ZoneName())
	return p
}

// nextRequest returns the request for the values of the form. A schedule of several lines is several schedules. It
// checks only the forms of times and numbers; the schedule is checked by the API.
func nextRequest(times typed) (request client.NextRequest, err error) {
	get := times.get
	request = client.NextRequest{Timezone: get("timezone"), Exclude: linesOf(get("exclude"))}
	request.Schedule, request.Schedules = schedulesOf(get("schedule"))
	if request.StartsAt, err = times.instant("starts_at"); err != nil {
		return request, err
	}
	if request.After, err = times.instant("after"); err != nil {
		return request, err
	}
	if text := get("count"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > timesMax {
			return request, invalid("count", "%q is not a number of times; want 1 to %d", clip(text), timesMax)
		}
		request.Count = n
	}
	return request, nil
}

// schedulesOf returns one schedule, or several if the text has several lines.
func schedulesOf(text string) (one string, many []string) {
	if lines := linesOf(text); len(lines) > 1 {
		return "", lines
	}
	return text, nil
}

// linesOf returns the lines of a text that are not empty. Browsers send a final line break with what was pasted; it
// makes no schedule.
func linesOf(text string) []string {
	var lines []string
	for line := range strings.SplitSeq(text, "\n") {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	return lines
}

// zones lists suggestions; the field accepts every name of the IANA database. All of them would make each page with
// the field much larger.
var zones = slices.Concat([]string{"UTC"}, strings.Fields(`
	Africa/Cairo Africa/Johannesburg Africa/Lagos Africa/Nairobi America/Anchorage America/Bogota America/Chicago
	America/Denver America/Halifax America/Los_Angeles America/Mexico_City America/New_York America/Santiago
	America/Sao_Paulo America/Toronto Asia/Bangkok Asia/Dubai Asia/Hong_Kong Asia/Jakarta Asia/Karachi Asia/Kolkata
	Asia/Manila Asia/Seoul Asia/Shanghai Asia/Singapore Asia/Tehran Asia/Tokyo Australia/Perth Australia/Sydney
	Europe/Amsterdam Europe/Athens Europe/Berlin Europe/Istanbul Europe/Kyiv Europe/Lisbon Europe/London
	Europe/Madrid Europe/Paris Europe/Rome Europe/Stockholm Europe/Warsaw Europe/Zurich Pacific/Auckland
	Pacific/Honolulu`))
