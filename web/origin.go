package web

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/carillon-io/carillon/api"
	"github.com/carillon-io/carillon/client"
)

// isForeign refuses a request that comes from another site and could change something. It reports whether it refused.
// The server has no credentials of its own: a browser inside a closed network would otherwise carry out what any site
// on the Internet asks of it. Programs that are no browsers send neither of the headers that the check reads, and
// pass; but not with a session, which only browsers have.
func (w *gateway) isForeign(rw http.ResponseWriter, req *http.Request) bool {
	if isRead(req) {
		return false
	}
	message := "a page of another site may change nothing here; want the request from this site, with its headers Host and Origin as the browser sends them, or from no browser"
	isOwn, isSaid := w.saysOwn(req)
	if isOwn {
		if isSaid || !hasSession(req) {
			return false
		}
		message = "a change in a session needs the header Origin or Sec-Fetch-Site, as browsers send it; a program wants the header Authorization and no session"
	}
	w.refuse(rw, &client.Error{Code: api.CodeCrossOrigin, Status: http.StatusForbidden, Message: message})
	return true
}

// saysOwn reports whether what a browser says of the origin of a request names this site alone, and whether it says
// anything. Each of the two headers must name this site if it is there, and be there once.
func (w *gateway) saysOwn(req *http.Request) (own, said bool) {
	fetch, origin := req.Header.Get("Sec-Fetch-Site"), req.Header.Get("Origin")
	switch {
	case len(req.Header.Values("Sec-Fetch-Site")) > 1 || len(req.Header.Values("Origin")) > 1:
		return false, true
	case fetch != "" && fetch != "same-origin" && fetch != "none":
		return false, true
	}
	return origin == "" || w.isOwnOrigin(req, origin), fetch != "" || origin != ""
}

// isOwnOrigin reports whether an origin is that of this site: the host that the request names, over TLS if the request
// came so; or, behind a proxy that changes the name of the host, that of redirect_url in the file of rights.
func (w *gateway) isOwnOrigin(req *http.Request, origin string) bool {
	u, err := url.Parse(origin)
	if err != nil || u.Scheme+"://"+u.Host != origin || u.Scheme != "https" && (u.Scheme != "http" || req.TLS != nil) {
		return false
	}
	if strings.EqualFold(u.Host, req.Host) {
		return true
	}
	return strings.HasPrefix(w.opts.Access.Table().OIDC().RedirectURL, origin+"/")
}

// isRead reports whether a request only reads.
func isRead(req *http.Request) bool {
	return req.Method == http.MethodGet || req.Method == http.MethodHead
}
