package client

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// httpRoute is the method and the path, after /api/v1/, by which a verb is requested over HTTP. A member of the request
// stands in braces. A request by POST or PUT has its members in the body, the other methods have them in the query.
type httpRoute struct{ method, path string }

// httpRoutes has the route of each verb. The name of a job that is put stands in the body, so that a name that is not
// valid is refused by the server, with what would be right.
var httpRoutes = map[string]httpRoute{
	"jobs.put":          {http.MethodPost, "jobs"},
	"jobs.put_many":     {http.MethodPost, "jobs/bulk"},
	"jobs.get":          {http.MethodGet, "jobs/{name}"},
	"jobs.list":         {http.MethodGet, "jobs"},
	"jobs.delete":       {http.MethodDelete, "jobs/{name}"},
	"jobs.pause":        {http.MethodPost, "jobs/{name}/pause"},
	"jobs.resume":       {http.MethodPost, "jobs/{name}/resume"},
	"jobs.trigger":      {http.MethodPost, "jobs/{name}/trigger"},
	"jobs.backfill":     {http.MethodPost, "jobs/{name}/backfill"},
	"runs.list":         {http.MethodGet, "runs"},
	"runs.get":          {http.MethodGet, "runs/{run_id}"},
	"runs.report":       {http.MethodPost, "runs/{run_id}/report"},
	"runs.extend":       {http.MethodPost, "runs/{run_id}/extend"},
	"runs.cancel":       {http.MethodPost, "runs/{run_id}/cancel"},
	"runs.retry":        {http.MethodPost, "runs/{run_id}/retry"},
	"runs.retry_many":   {http.MethodPost, "runs/retry"},
	"runs.dismiss":      {http.MethodPost, "runs/{run_id}/dismiss"},
	"runs.dismiss_many": {http.MethodPost, "runs/dismiss"},
	"calendars.put":     {http.MethodPut, "calendars/{name}"},
	"calendars.get":     {http.MethodGet, "calendars/{name}"},
	"calendars.list":    {http.MethodGet, "calendars"},
	"calendars.delete":  {http.MethodDelete, "calendars/{name}"},
	"audit.list":        {http.MethodGet, "audit"},
	"schedules.next":    {http.MethodGet, "schedules/next"},
	"status":            {http.MethodGet, "status"},
	"whoami":            {http.MethodGet, "whoami"},
}

// changes reports whether a verb may change something. Those that only read are requested by GET.
func changes(verb string) bool { return httpRoutes[verb].method != http.MethodGet }

// httpRequest is the HTTP form of a request of a verb.
type httpRequest struct {
	method string
	path   string // escaped; with the query
	body   []byte // nil for a method without one
	// version is the version of the job that the request demands, for If-Match; "" if it is in the body or any will do.
	version string
}

// httpForm converts an encoded request. The conversion works on the members of the JSON text and knows no types: a
// query has the texts of the members, which the server reads back by the types that the verb has.
func httpForm(verb string, body []byte) (httpRequest, error) {
	route, ok := httpRoutes[verb]
	if !ok {
		return httpRequest{}, fmt.Errorf("client: %s cannot be requested over HTTP; connect to NATS", verb)
	}
	form := httpRequest{method: route.method, path: route.path}
	hasBody := route.method == http.MethodPost || route.method == http.MethodPut
	if hasBody {
		form.body = body
	}
	before, rest, inPath := strings.Cut(route.path, "{")
	if hasBody && !inPath {
		return form, nil // the members stay as they are; a bulk registration is large
	}
	var members map[string]jsontext.Value
	if err := json.Unmarshal(body, &members); err != nil {
		return httpRequest{}, fmt.Errorf("client: encode request: %w", err)
	}
	if inPath {
		name, after, _ := strings.Cut(rest, "}")
		value := textOf(members[name])
		if value == "" {
			return httpRequest{}, emptyMember(name)
		}
		form.path = before + url.PathEscape(value) + after
		delete(members, name)
	}
	if !hasBody {
		form.takeQuery(members)
	}
	return form, nil
}

// emptyMember returns the error for a request without the member that names its thing: it would have another path.
func emptyMember(name string) error {
	code := CodeInvalidField
	if name == "name" {
		code = CodeInvalidName
	}
	return &Error{Code: code, Status: http.StatusUnprocessableEntity, Field: name, Message: "is empty; want what the request is about"}
}

// takeQuery writes members into the query. A demanded version has its own header.
func (f *httpRequest) takeQuery(members map[string]jsontext.Value) {
	query := make(url.Values)
	for name, value := range members {
		switch {
		case name == "if_version":
			f.version = textOf(value)
		case name == "labels":
			var labels map[string]string
			_ = json.Unmarshal(value, &labels) // this package encoded it
			for key, label := range labels {
				query.Add("label", key+"="+label)
			}
		case value.Kind() == jsontext.KindBeginArray:
			var list []jsontext.Value
			_ = json.Unmarshal(value, &list)
			for _, one := range list {
				query.Add(name, textOf(one))
			}
		default:
			query.Set(name, textOf(value))
		}
	}
	if len(query) > 0 {
		f.path += "?" + query.Encode()
	}
}

// textOf returns a JSON value as it stands in a query or a path: a string without its quotes, another value as it is,
// and "" for no value.
func textOf(value jsontext.Value) string {
	if value.Kind() != jsontext.KindString {
		return string(value)
	}
	text, _ := jsontext.AppendUnquote(nil, value) // this package encoded it
	return string(text)
}
