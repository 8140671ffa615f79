package web

import (
	"cmp"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/carillon-io/carillon/api"
	"github.com/carillon-io/carillon/api/apitest"
	"github.com/carillon-io/carillon/client"
)

// unsayable are the cases that HTTP has no way to send: they are about JSON where HTTP has a path, a query or the header
// If-Match, which TestConditions is about, or larger than the head of a request, which TestRawRequests is about.
var unsayable = []string{
	"byte order mark", "empty get", "limit is a text", "huge cursor", "delete of another version", "delete of a version of nothing",
	"delete of what is not there", "empty cancel", "retry of no run id", "dismissal of no run id",
}

// TestBadInputOverHTTP sends what NATS refuses over HTTP: the code, the field and the status are the same,
// and nothing changes.
func TestBadInputOverHTTP(t *testing.T) {
	web, natsURL := startWebOf(t, apitest.StartEngine(t), api.Options{})
	w := apitest.BadWorld{Conn: apitest.Connect(t, natsURL), Client: apitest.NewClient(t, natsURL, client.Options{}), Prefix: "carillon"}
	w.Prepare(t)
	before := w.State(t)
	for _, bad := range apitest.BadRequests() {
		method, path, body, ok := asHTTP(&w, bad)
		if !ok {
			if !slices.Contains(unsayable, bad.Name) {
				t.Errorf("%q cannot be sent", bad.Name)
			}
			continue
		}
		t.Run(bad.Name, func(t *testing.T) {
			reply := web.ask(method, path, body, "Content-Type: application/json")
			reply.refused(t, method+" "+path, bad.Status, bad.Code, bad.Field)
			if now := w.State(t); now != before {
				t.Errorf("something changed:\nbefore %s\nnow    %s", before, now)
			}
		})
	}
}

// asHTTP makes an HTTP request of a bad one. It reports whether HTTP can say such a thing: in its path
// and its query there are neither kinds of values nor broken JSON.
func asHTTP(w *apitest.BadWorld, bad apitest.BadRequest) (method, path, body string, ok bool) {
	tenant, verb, found := strings.Cut(bad.Verb, " ")
	if !found {
		tenant, verb = "default", bad.Verb
	}
	body = strings.NewReplacer(
		"$CURSOR", w.Cursor, "$CUT", w.Cursor[:len(w.Cursor)-1], "$TAMPERED", apitest.Tamper(w.Cursor), "$PREFIX", w.Prefix,
	).Replace(bad.Body)
	r := routeOf(verb)
	query := url.Values{"tenant": {tenant}}
	path = apiRoot + r.path
	if member := r.member(); member != "" {
		var name string
		if name, body, ok = takeOut(body, member); !ok {
			return method, path, body, false
		}
		path = strings.Replace(path, "{"+member+"}", url.PathEscape(name), 1)
	}
	if !r.hasBody() && body != "" {
		if ok = asQuery(body, query); !ok {
			return method, path, body, false
		}
		body = ""
	}
	path += "?" + query.Encode()
	return r.method, path, body, len(path) < headerBytesMax
}

// routeOf returns the route of a verb that has the least in its path.
func routeOf(verb string) *route {
	var best *route
	for i := range routes {
		if r := &routes[i]; r.verb == verb && (best == nil || r.member() == "") {
			best = r
		}
	}
	return best
}

// takeOut takes a text out of an object; a missing one is "". Of a value that no JSON library reads it
// takes the first member by hand.
func takeOut(body, member string) (value, rest string, ok bool) {
	if behind, found := strings.CutPrefix(body, `{"`+member+`":"`); found {
		if value, rest, found = strings.Cut(behind, `",`); found {
			return value, "{" + rest, true
		}
	}
	var members map[string]json.RawMessage
	if json.Unmarshal([]byte(body), &members) != nil {
		return "", "", false
	}
	if raw, given := members[member]; given && json.Unmarshal(raw, &value) != nil {
		return "", "", false
	}
	delete(members, member)
	text, err := json.Marshal(members)
	return value, string(text), err == nil
}

// asQuery adds the members of an object to a query.
func asQuery(body string, query url.Values) bool {
	var members map[string]json.RawMessage
	if json.Unmarshal([]byte(body), &members) != nil {
		return false
	}
	for name, raw := range members {
		if name == "if_version" {
			return false // stands in the header If-Match
		}
		var list []string
		var text string
		switch {
		case json.Unmarshal(raw, &list) == nil:
			query[name] = list
		case json.Unmarshal(raw, &text) == nil:
			if kindOf(name) == kindNumber && text == "10" {
				return false // a text that looks like a number is one in a query
			}
			query.Set(name, text)
		default:
			query.Set(name, string(raw))
		}
	}
	return true
}

// TestBadQueries sends what only a query can say.
func TestBadQueries(t *testing.T) {
	w, _ := startWebOf(t, apitest.StartEngine(t), api.Options{})
	wrong, unknown := client.CodeInvalidField, client.CodeUnknownField
	for _, c := range []struct {
		method, path, body string
		status             int
		code               client.Code
		field              string
	}{
		{"GET", "jobs?limt=1", "", 400, unknown, "limt"},
		{"GET", "jobs?labels=a", "", 400, unknown, "labels"},
		{"GET", "jobs/a?limit=1", "", 400, unknown, "limit"},
		{"GET", "jobs/a/runs?job=b", "", 400, unknown, "job"},
		{"GET", "status?verbose=1", "", 400, unknown, "verbose"},
		{"GET", "jobs?%ff=1", "", 400, unknown, "query"},
		{"GET", "jobs?=1", "", 400, unknown, "query"},
		{"PUT", "jobs/a?if_version=1", apitest.JobWith("name", "-"), 400, unknown, "if_version"},
		{"DELETE", "jobs/a?force=1", "", 400, unknown, "force"},
		{"GET", "jobs?limit=1&limit=2", "", 422, wrong, "limit"},
		{"GET", "jobs?limit=", "", 422, wrong, "limit"},
		{"GET", "jobs?limit=01", "", 422, wrong, "limit"},
		{"GET", "jobs?limit=%5B1%5D", "", 422, wrong, "limit"},
		{"GET", "jobs?limit=null", "", 422, wrong, "limit"},
		{"GET", "jobs?limit=1,%22cursor%22:1", "", 422, wrong, "limit"},
		{"GET", "jobs?label=team", "", 422, wrong, "label"},
		{"GET", "jobs?label=a=1&label=a=1", "", 422, wrong, "label"},
		{"GET", "jobs?label=a=1&label=b=1&label=a=2", "", 422, wrong, "label"},
		{"GET", "jobs?label==1", "", 422, wrong, "label"},
		{"GET", "jobs?label=", "", 422, wrong, "label"},
		{"GET", "jobs?limit=%205", "", 422, wrong, "limit"},
		{"GET", "jobs?limit=+5", "", 422, wrong, "limit"},
		{"GET", "jobs?limit=-1", "", 422, wrong, "limit"},
		{"GET", "jobs?limit=99999999999999999999", "", 422, wrong, "limit"},
		{"GET", "jobs?limit=true", "", 422, wrong, "limit"},
		{"GET", "jobs?prefix=%ff", "", 422, wrong, "prefix"},
		{"GET", "jobs?prefix=%zz", "", 422, wrong, "query"},
		{"GET", "jobs?limit=1;cursor=2", "", 422, wrong, "query"},
		{"GET", "runs?attempts=yes&status=dead", "", 422, wrong, "attempts"},
		{"GET", "jobs?tenant=", "", 422, wrong, "tenant"},
		{"GET", "jobs?tenant=a.b", "", 422, wrong, "tenant"},
		{"GET", "jobs", `{"limit":1}`, 422, wrong, "body"},
		{"DELETE", "jobs/a", `{"name":"b"}`, 422, wrong, "body"},
		{"PUT", "jobs/a", apitest.JobWith("name", `"b"`), 422, wrong, "name"},
		{"PUT", "jobs/a", apitest.JobWith("name", `null`), 422, wrong, "name"},
		{"PUT", "jobs/a", `{"name":"b","name":"a"}`, 422, wrong, "name"},
		{"PUT", "jobs/a", `{"name":"a","name":"a"}`, 400, client.CodeInvalidJSON, "name"},
		{"PUT", "jobs/a", `{"name":"a"}}`, 400, client.CodeInvalidJSON, ""},
		{"PUT", "jobs/a", `[]`, 422, wrong, ""},
		{"PUT", "jobs/a", ``, 400, client.CodeInvalidJSON, ""},
		{"POST", "jobs/a/backfill", ``, 400, client.CodeInvalidJSON, ""},
		{"POST", "jobs/a/pause", `{"run_id":"x"}`, 400, unknown, "run_id"},
		{"POST", "runs/1/report", `{"run_id":"2","fence":1,"status":"failed"}`, 422, wrong, "run_id"},
		{"GET", "runs/a/b", "", 422, wrong, "run_id"},
	} {
		w.ask(c.method, apiRoot+c.path, c.body).refused(t, c.method+" "+c.path+" "+c.body, c.status, c.code, c.field)
	}
	w.pour("DELETE", "/api/v1/jobs/a", "{}").refused(t, "DELETE with a body of unknown length", 422, wrong, "body")
	if page := w.ask(http.MethodGet, "/api/v1/jobs", ""); page.body != "{\"jobs\":[]}\n" {
		t.Errorf("something was put: %s", page.body)
	}
}

// TestEachParameter sends each parameter of each route empty, more than once if it is no list, and beside one that
// the route does not have. The refusal names it and says what would be right.
func TestEachParameter(t *testing.T) {
	w, _ := startWebOf(t, apitest.StartEngine(t), api.Options{})
	good := map[string]string{
		"limit": "1", "count": "1", "attempts": "true", "from": "2026-01-01T00:00:00Z", "to": "2026-01-02T00:00:00Z", "status": "dead",
		"label": "a=1", "schedules": "@daily", "exclude": "2026-12-25",
	}
	for i := range routes {
		r := &routes[i]
		path := apiRoot + strings.ReplaceAll(r.path, "{"+r.member()+"}", "a")
		if r.method != http.MethodGet {
			w.ask(r.method, path+"?limit=1", r.example).refused(t, r.method+" "+path+" with limit", 400, client.CodeUnknownField, "limit")
			continue
		}
		w.ask(r.method, path+"?nothing=1", "").refused(t, path+" with nothing", 400, client.CodeUnknownField, "nothing")
		for _, name := range append([]string{"tenant"}, r.query...) {
			one := name + "=" + url.QueryEscape(cmp.Or(good[name], "a"))
			for _, query := range []string{name, name + "=", one + "&" + one} {
				if query == one+"&"+one && kindOf(name) == kindList {
					continue
				}
				got := w.ask(r.method, path+"?"+query, "")
				got.refused(t, path+"?"+query, 422, client.CodeInvalidField, name)
				if !strings.Contains(got.body, "; want ") {
					t.Errorf("%s?%s: %s does not say what would be right", path, query, got.body)
				}
			}
		}
	}
}
