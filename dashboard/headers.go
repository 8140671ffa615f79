package dashboard

import "net/http"

// policy is the Content-Security-Policy: a page may load files from this server only, may not run inline scripts, and
// may not be framed by another site's page. The templates escape what jobs contain; the policy is the second line of
// defence, if one of them does not.
const policy = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; connect-src 'self'; " +
	"form-action 'self'; frame-ancestors 'none'; base-uri 'none'"

// setHeaders sets the headers of every answer. Assets replace the cache header by their own. no-store keeps the
// pages of one visitor out of caches that others share.
func setHeaders(h http.Header) {
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
}
