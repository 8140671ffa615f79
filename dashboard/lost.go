package dashboard

import (
	"encoding/json"
	"net/http"
	"strings"

	"github.com/carillon-io/carillon/client"
)

// serveLost answers a request for nothing that there is: a browser with a page, and a program with an
// error as the API has them.
func (d *Dashboard) serveLost(rw http.ResponseWriter, req *http.Request, status int) {
	e := refusal(client.CodeNotFound, status, "there is no page %s; want one of the navigation, GET /healthz, /readyz or /metrics, or what /api/v1/openapi.json lists", shownText(clip(req.URL.Path)))
	title := "There is no such page"
	if status == http.StatusMethodNotAllowed {
		title = "That page takes no " + clip(req.Method)
		rw.Header().Set("Allow", allowed(req.URL.Path))
		e = refusal("method_not_allowed", status, "%s is no method of this path; want %s", clip(req.Method), allowed(req.URL.Path))
	}
	if strings.Contains(req.Header.Get("Accept"), "text/html") {
		v := d.visit(req)
		v.send(rw, view{page: "failed", title: title, err: e})
		return
	}
	body, err := json.Marshal(client.ErrorReply{Error: e})
	if err != nil {
		body = []byte(`{"error":{"code":"internal","message":"internal error"}}`)
	}
	rw.Header().Set("Content-Type", "application/json")
	rw.WriteHeader(status)
	_, _ = rw.Write(append(body, '\n')) // the caller has gone if this fails
}

// allowed lists the methods of a path.
func allowed(path string) string {
	switch {
	case path == livePath:
		return "GET"
	case actions[path] == nil:
		return "GET, HEAD"
	case pages[path] == nil:
		return "POST"
	}
	return "GET, HEAD, POST"
}

// clip shortens a text that a visitor sent.
func clip(s string) string {
	const most = 120
	if s = strings.ToValidUTF8(s, "\uFFFD"); len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}
