package web

import (
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/carillon-io/carillon/api"
	"github.com/carillon-io/carillon/apierr"
	"github.com/carillon-io/carillon/client"
)

// particular are the codes of refusals that only some verbs have. A code that is not listed may come from every
// verb. It only narrows the description. A code that is missing here is described for more verbs than return it,
// which is harmless; a verb that is missing would hide a refusal from a generated client.
var particular = map[apierr.Code][]string{
	apierr.VersionConflict: {"jobs.put", "jobs.delete", "jobs.pause", "jobs.resume", "jobs.trigger", "calendars.delete", "runs.retry", "runs.dismiss"},
	apierr.AlreadyExists:   {"jobs.put"},
	apierr.StaleFence:      {"runs.report", "runs.extend"},
	apierr.RunOver:         {"runs.cancel", "runs.retry", "runs.dismiss"},
}

// responses are the answers of a route: the successful one, and each status of a refusal.
func (w *apiWriter) responses(r *route, v *api.Verb) schema {
	all := schema{"default": ref("responses/Refusal")}
	for _, status := range w.statusesOf(r) {
		all[strconv.Itoa(status)] = ref("responses/" + refusalName(status))
	}
	if v == nil {
		all["200"] = schema{"description": "OpenAPI 3.1", "content": jsonContent(schema{"type": "object"})}
		return all
	}
	content := jsonContent(w.components.Reply(v))
	done := schema{"description": "Done.", "content": content}
	all["200"] = done
	tag := schema{"description": "The version, for If-Match and If-None-Match.", "schema": schema{"type": "string"}}
	switch v.Reply.(type) {
	case client.JobReply, client.CalendarReply:
		done["headers"] = schema{"ETag": tag}
	case client.PutReply, client.CalendarPutReply:
		done["headers"] = schema{"ETag": tag}
		location := schema{"description": "The path of what was created.", "schema": schema{"type": "string"}}
		all["201"] = schema{"description": "Created.", "content": content, "headers": schema{"Location": location, "ETag": tag}}
	}
	if r.hasTag() {
		all["304"] = schema{"description": "The caller has this version."}
	}
	return all
}

// statusesOf lists the statuses of the refusals of a route, in order. The list may name a status that a route never
// returns, and must not lack one that it does.
func (w *apiWriter) statusesOf(r *route) []int {
	found := map[int]bool{}
	statuses, _ := api.Statuses()
	for code, status := range statuses {
		if verbs, some := particular[code]; !some || slices.Contains(verbs, r.verb) {
			found[status] = true
		}
	}
	if r.hasVersion || r.mayCreate {
		found[http.StatusPreconditionFailed] = true
	}
	if r.hasBody() {
		found[http.StatusUnsupportedMediaType] = true
	}
	// A page of another site may not change anything, see isForeign.
	if r.method != http.MethodGet {
		found[http.StatusForbidden] = true
	}
	found[http.StatusMisdirectedRequest] = true
	return slices.Sorted(maps.Keys(found))
}

// refusalName returns the name of the component for a status, such as NotFound.
func refusalName(status int) string { return strings.ReplaceAll(http.StatusText(status), " ", "") }

// refusals are the components of the statuses. Each lists the codes that have this status. They are shared by all
// routes, which keeps the description readable and small.
func (w *apiWriter) refusals() schema {
	// The status of a failed condition has no code of its own: two codes get it if the condition was a header.
	codes := map[int][]string{http.StatusPreconditionFailed: {string(apierr.AlreadyExists), string(apierr.VersionConflict)}}
	verbs, onlyHTTP := api.Statuses()
	for code, status := range verbs {
		codes[status] = append(codes[status], string(code))
	}
	for code, status := range onlyHTTP {
		codes[status] = append(codes[status], string(code))
	}
	delete(codes, http.StatusMethodNotAllowed) // of no operation
	content := jsonContent(w.components.Refusal())
	all := schema{"Refusal": schema{"description": "What is wrong, and what would be right. The status is that of the code.", "content": content}}
	for status, names := range codes {
		slices.Sort(names)
		one := schema{"description": "Refused: " + strings.Join(names, ", ") + ".", "content": content}
		if mayPass(status) {
			one["headers"] = schema{"Retry-After": schema{"description": "Seconds until it may be asked again.", "schema": schema{"type": "integer", "minimum": 0}}}
		}
		all[refusalName(status)] = one
	}
	return all
}

// mayPass reports whether a request that was refused with a status may succeed later. Such a refusal has the header
// Retry-After. It means that nothing has changed, or that the caller can find out by reading; a client may repeat
// such a request by itself.
func mayPass(status int) bool {
	return status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable
}
