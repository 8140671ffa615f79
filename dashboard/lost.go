package dashboard

import (
	"net/http"
	"strings"

	"github.com/carillon-io/carillon/client"
)

// serveLost answers a request for a path or a method that does not exist: with a page for a browser, and
// with an error in the form of the API for a program.
func (d *Dashboard) serveLost(rw http.ResponseWriter, req *http.Request, status int) {
	// The error says where to look, because the caller may have no documentation at hand.
	e := refusal(client.CodeNotFound, status, "there is no page %s; want a page of the navigation, GET /healthz, /readyz or /metrics, or a path in /api/v1/openapi.json", shownText(clip(req.URL.Path)))
	title := "There is no such page"
	if status == http.StatusMethodNotAllowed {
		title = "This page does not accept " + clip(req.Method)
		rw.Header().Set("Allow", allowed(req.URL.Path))
		e = refusal("method_not_allowed", status, "%s is no method of this path; want %s", clip(req.Method), allowed(req.URL.Path))
	}
	// Browsers ask for HTML by name; programs mostly accept anything.
	if strings.Contains(req.Header.Get("Accept"), "text/html") {
		v := d.visit(req)
		v.send(rw, view{page: "failed", title: title, err: e})
		return
	}
	sendError(rw, e)
}

// allowed returns the methods of a path, as a list in words.
func allowed(path string) string {
	_, isPage := pages[path]
	_, isAction := actions[path]
	switch {
	case path == livePath:
		return "GET"
	// A path is a page, an action or both; a page can be asked for its head as well.
	case !isAction:
		return "GET, HEAD"
	case !isPage:
		return "POST"
	}
	return "GET, HEAD, POST"
}

// clip shortens a text from a request for an error message. It also replaces invalid UTF-8, which a page must not
// contain. It cuts at a whole character.
func clip(s string) string {
	const most = 120
	if s = strings.ToValidUTF8(s, "\uFFFD"); len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}
