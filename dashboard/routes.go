package dashboard

import (
	"errors"
	"maps"
	"strings"
)

// need is the verb for which a reader needs rights in the tenant of a visit: one of the API, or another that the file of
// rights knows. The zero value is no verb, and admits no reader.
type need string

// everyone is the need of what every reader may see, known or not.
const everyone need = "everyone"

// page is a page of the dashboard. show must not change anything: it is called for GET, and once a second by streams.
type page struct {
	needs  need
	show   func(*visit) view
	isLive bool // it has a stream; no other page gets one
}

// pages has the pages by path. A path is also the key of the navigation, and the address that a stream names.
var pages = map[string]page{
	"/":             {needs: "status", show: (*visit).overview, isLive: true},
	"/jobs":         {needs: "jobs.list", show: (*visit).jobs, isLive: true},
	"/job":          {needs: "jobs.get", show: (*visit).job, isLive: true},
	"/job/edit":     {needs: "jobs.put", show: (*visit).edit},
	"/new":          {needs: "jobs.put", show: (*visit).register},
	"/runs":         {needs: "runs.list", show: (*visit).runs, isLive: true},
	"/dead":         {needs: "runs.list", show: (*visit).dead},
	"/run":          {needs: "runs.get", show: (*visit).run, isLive: true},
	"/audit":        {needs: "audit.list", show: (*visit).audit},
	"/playground":   {needs: "schedules.next", show: (*visit).playground},
	referencePath:   {needs: everyone, show: (*visit).reference},
	signInPath:      {needs: everyone, show: (*visit).signIn},
	"/job/backfill": {needs: "jobs.backfill", show: (*visit).backfill},
	"/calendars":    {needs: "calendars.list", show: (*visit).calendars},
	"/calendar":     {needs: "calendars.get", show: (*visit).calendar},
	"/nodes":        {needs: "status", show: (*visit).nodes, isLive: true},
}

// action is what a form does. do returns the address to which the browser is redirected, or, after an error, the page that
// shows the error. The redirect after a success makes a reload of the browser repeat the page and not the action.
type action struct {
	needs need
	do    func(*visit) (to string, v view)
	from  place
}

// place is the page that an action is sent from: its path, and then the fields of the form that are in its address. A field
// with an equal sign has that value. After an error the page is shown again as if it was asked for there.
type place []string

// actions has the actions by path.
var actions = map[string]action{
	"/job/pause":   {"jobs.pause", (*visit).pause, place{"/job", "name"}},
	"/job/resume":  {"jobs.resume", (*visit).resume, place{"/job", "name"}},
	"/job/trigger": {"jobs.trigger", (*visit).trigger, place{"/job", "name"}},
	"/job/delete":  {"jobs.delete", (*visit).remove, place{"/job", "name"}},
	"/job/edit":    {"jobs.put", (*visit).update, place{"/job/edit", "name"}},

	"/jobs/pause":   {"jobs.pause", (*visit).pauseChosen, place{"/jobs"}},
	"/jobs/resume":  {"jobs.resume", (*visit).resumeChosen, place{"/jobs"}},
	"/jobs/trigger": {"jobs.trigger", (*visit).triggerChosen, place{"/jobs"}},
	"/jobs/delete":  {"jobs.delete", (*visit).removeChosen, place{"/jobs"}},

	"/new":            {"jobs.put", (*visit).create, place{"/new"}},
	"/run/retry":      {"runs.retry", (*visit).retryRun, place{"/run", "id"}},
	"/run/cancel":     {"runs.cancel", (*visit).cancelRun, place{"/run", "id"}},
	"/runs/retry":     {"runs.retry_many", (*visit).retryRuns, place{"/runs", "job", "from", "to", typedIn, "status=dead"}},
	"/run/dismiss":    {"runs.dismiss", (*visit).dismissRun, place{"/run", "id"}},
	"/runs/dismiss":   {"runs.dismiss_many", (*visit).dismissRuns, place{"/runs", "job", "from", "to", typedIn, "status=dead"}},
	"/dead/retry":     {"runs.retry_many", (*visit).retryGroup, place{"/dead"}},
	"/dead/dismiss":   {"runs.dismiss_many", (*visit).dismissGroup, place{"/dead"}},
	"/job/backfill":   {"jobs.backfill", (*visit).fillBack, place{"/job/backfill", "name", "from", "to", typedIn, "limit", "repeat"}},
	"/nodes/handover": {"handover", (*visit).handOver, place{"/nodes"}},
	"/zone":           {"status", (*visit).chooseZone, place{"/"}},
}

// standAt gives the visit of an action the address of the page that it is sent from. What the address of the action has, such
// as the tenant and a filter, stays.
func (v *visit) standAt(from place) {
	query := maps.Clone(v.query)
	for _, field := range from[1:] {
		name, value, isFixed := strings.Cut(field, "=")
		if !isFixed {
			value = v.form.Get(name)
		}
		if value != "" {
			query.Set(name, value)
		}
	}
	v.path, v.query = from[0], query
}

// permits returns why a reader may not have what has a need: the tenant is none, or they lack the right; nil if they may.
func (v *visit) permits(n need) error {
	switch {
	case v.err != nil:
		return v.err
	case n == "":
		return errors.New("a page or an action names no verb, so no reader may have it")
	case n == everyone || v.dashboard.opts.Rights == nil:
		return nil
	}
	return v.dashboard.opts.Rights.Authorize(v.req.Context(), string(n), v.tenant)
}

// spends counts the visit against the rate of its tenant, and returns why it comes too soon; nil if it does not. What a page
// asks of the API counts besides.
func (v *visit) spends() error {
	if v.dashboard.opts.Rights == nil {
		return nil
	}
	return v.dashboard.opts.Rights.Spend(v.req.Context(), v.tenant)
}

// open returns a page, or the page with the reason why it cannot be visited.
func (v *visit) open(p page) view {
	if err := v.permits(p.needs); err != nil {
		return failed(err)
	}
	return p.show(v)
}
