package web

import (
	"context"
	"log/slog"
	"net/http"
	"strings"

	"github.com/carillon-io/carillon/access"
	"github.com/carillon-io/carillon/api"
	"github.com/carillon-io/carillon/certs"
)

// bearer is the scheme of tokens in the header Authorization (RFC 6750).
const bearer = "Bearer"

// recognize returns who sends a request: by the token in its header, else by its client certificate. A request that shows
// a token which is unknown has no caller, also with a good certificate: the caller means to be the one of the token.
func (w *gateway) recognize(req *http.Request) access.Who {
	table := w.opts.Access.Table()
	if table == nil {
		return access.Who{}
	}
	if lines := req.Header.Values("Authorization"); len(lines) > 0 {
		scheme, token, _ := strings.Cut(lines[0], " ")
		if len(lines) > 1 || !strings.EqualFold(scheme, bearer) {
			return access.Who{}
		}
		return table.WhoseToken(strings.TrimSpace(token))
	}
	return table.WhoseCertificate(certs.Names(certs.Verified(req.TLS)))
}

// refuseUnless answers a request that its caller may not make, and reports whether it did.
func (w *gateway) refuseUnless(rw http.ResponseWriter, err error) (refused bool) {
	if err == nil {
		return false
	}
	w.refuse(rw, api.PublicError(err))
	return true
}

type readerKey struct{}

// withReader returns the request of a page with what pageAsker needs to recognize its reader.
func withReader(req *http.Request) *http.Request {
	return req.WithContext(context.WithValue(req.Context(), readerKey{}, req))
}

// readerOf returns the reader of a page. It is recognized again for each thing that the page asks for, because a live
// page stays open for minutes, and must not show what its reader may see no longer.
func (w *gateway) readerOf(ctx context.Context) access.Who {
	req, _ := ctx.Value(readerKey{}).(*http.Request)
	if req == nil {
		return access.Who{}
	}
	return w.recognize(req)
}

// GuardMetrics returns a handler that shows metrics only to callers who may read them, for a process that serves no API.
// With nil rights every caller may.
func GuardMetrics(metrics http.Handler, rights *access.Keeper, logger *slog.Logger) http.Handler {
	w := &gateway{opts: Options{Metrics: metrics, Access: rights, Logger: logger}}
	return http.HandlerFunc(w.metrics)
}
