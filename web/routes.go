package web

import (
	"net/http"
	"strings"
)

// apiRoot is the prefix of the paths of the API. The number is that of the contract. A later contract that breaks
// this one gets a path of its own beside it.
const apiRoot = "/api/v1/"

// route is one method of one path, and the verb that it stands for. The table is all that the router, the decoder and
// the description know of a route. A path has at most one part in braces.
type route struct {
	method string
	path   string // after apiRoot; a part in braces is a member of the request
	verb   string // "" for what exists only over HTTP
	id     string // in the description of the API; default: the verb
	// query has the parameters that the route accepts besides tenant; any other is refused.
	query []string

	hasVersion bool   // accepts If-Match
	mayCreate  bool   // accepts If-None-Match: *
	hasKey     bool   // accepts Idempotency-Key
	example    string // of a body
}

// Query parameters: members of the request, except that label stands for one entry of labels.
var (
	jobFilters      = []string{"prefix", "label", "status", "contains", "target", "last_run", "limit", "cursor", "partial", "with_credentials"}
	runFilters      = []string{"from", "to", "status", "attempts", "limit", "cursor", "partial"}
	allRunFilters   = append([]string{"job"}, runFilters...)
	calendarFilters = []string{"limit", "cursor"}
	auditFilters    = []string{"name", "action", "by", "from", "to", "limit", "cursor", "partial"}
	previewFilters  = []string{"schedule", "schedules", "exclude", "timezone", "starts_at", "ends_at", "after", "count"}
)

const (
	// The examples appear in the description, one for each body; a caller can send one as it is.
	exampleJob = `{"name":"reports/daily","schedule":"0 8 * * 1-5","timezone":"Europe/Berlin",` +
		`"target":{"kind":"nats","subject":"reports.run"},"labels":{"team":"billing"}}`
	// The name is in the path.
	exampleSameJob  = `{"schedule":"@every 10s","target":{"kind":"nats","subject":"reports.run"}}`
	exampleBulk     = `{"jobs":[` + exampleJob + `]}`
	exampleRange    = `{"from":"2026-01-01T00:00:00Z","to":"2026-01-02T00:00:00Z","limit":100}`
	exampleReport   = `{"fence":4711,"status":"succeeded","result":"5 rows"}`
	exampleCalendar = `{"exclude":["2026-12-25","2026-12-26"],"description":"Days off."}`
)

// routes lists the paths, in the order of the documentation. The paths and what they accept are the contract with
// callers: entries are added and keep their meaning. Two routes with the same method and path would hide one
// another without an error; the later one wins.
var routes = []route{
	{method: http.MethodGet, path: "jobs", verb: "jobs.list", query: jobFilters},
	{method: http.MethodPost, path: "jobs", verb: "jobs.put", id: "jobs.post", hasVersion: true, mayCreate: true, example: exampleJob},
	{method: http.MethodPost, path: "jobs/bulk", verb: "jobs.put_many", example: exampleBulk},
	{method: http.MethodGet, path: "jobs/{name}", verb: "jobs.get", query: []string{"with_credentials"}},
	{method: http.MethodPut, path: "jobs/{name}", verb: "jobs.put", hasVersion: true, mayCreate: true, example: exampleSameJob},
	{method: http.MethodDelete, path: "jobs/{name}", verb: "jobs.delete", hasVersion: true},
	{method: http.MethodPost, path: "jobs/{name}/pause", verb: "jobs.pause", hasVersion: true, example: `{"reason":"the target is down"}`},
	{method: http.MethodPost, path: "jobs/{name}/resume", verb: "jobs.resume", hasVersion: true, example: `{"reason":"it is up again"}`},
	{method: http.MethodPost, path: "jobs/{name}/trigger", verb: "jobs.trigger", hasVersion: true, hasKey: true, example: `{"payload":{"by":"hand"}}`},
	{method: http.MethodPost, path: "jobs/{name}/backfill", verb: "jobs.backfill", example: exampleRange},
	{method: http.MethodGet, path: "jobs/{job}/runs", verb: "runs.list", id: "jobs.runs", query: runFilters},
	{method: http.MethodGet, path: "runs", verb: "runs.list", query: allRunFilters},
	{method: http.MethodPost, path: "runs/retry", verb: "runs.retry_many", example: `{"job":"reports/daily","limit":100}`},
	{method: http.MethodPost, path: "runs/dismiss", verb: "runs.dismiss_many", example: `{"job":"reports/daily","limit":100,"reason":"the target was down"}`},
	{method: http.MethodGet, path: "runs/{run_id}", verb: "runs.get"},
	{method: http.MethodPost, path: "runs/{run_id}/report", verb: "runs.report", example: exampleReport},
	{method: http.MethodPost, path: "runs/{run_id}/extend", verb: "runs.extend", example: `{"fence":4711,"by":"5m"}`},
	{method: http.MethodPost, path: "runs/{run_id}/cancel", verb: "runs.cancel", example: `{}`},
	{method: http.MethodPost, path: "runs/{run_id}/retry", verb: "runs.retry", example: `{}`},
	{method: http.MethodPost, path: "runs/{run_id}/dismiss", verb: "runs.dismiss", example: `{"reason":"the target was down"}`},
	{method: http.MethodGet, path: "calendars", verb: "calendars.list", query: calendarFilters},
	{method: http.MethodGet, path: "calendars/{name}", verb: "calendars.get"},
	{method: http.MethodPut, path: "calendars/{name}", verb: "calendars.put", example: exampleCalendar},
	{method: http.MethodDelete, path: "calendars/{name}", verb: "calendars.delete"},
	{method: http.MethodGet, path: "audit", verb: "audit.list", query: auditFilters},
	{method: http.MethodGet, path: "schedules/next", verb: "schedules.next", query: previewFilters},
	{method: http.MethodGet, path: "status", verb: "status"},
	{method: http.MethodGet, path: "whoami", verb: "whoami"},
	{method: http.MethodGet, path: "openapi.json", id: "openapi"},
}

// isLocal reports whether each node answers by itself, even if it cannot carry out requests.
func (r *route) isLocal() bool { return r.verb == "" || r.verb == "status" || r.verb == "whoami" }

// hasBody reports whether a request may have a body.
func (r *route) hasBody() bool { return r.method == http.MethodPost || r.method == http.MethodPut }

// member returns the member that a part of the path becomes; "" if there is none.
func (r *route) member() string {
	_, behind, found := strings.Cut(r.path, "{")
	if !found {
		return ""
	}
	member, _, _ := strings.Cut(behind, "}")
	return member
}

// action returns the part of the path after the name; "" if there is none.
func (r *route) action() string {
	_, action, _ := strings.Cut(r.path, "}/")
	return action
}

// operation returns the name of the route in the description of the API. It is unique, though several routes may
// share a verb.
func (r *route) operation() string {
	if r.id != "" {
		return r.id
	}
	return r.verb
}
