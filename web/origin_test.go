package web

import (
	"crypto/tls"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/carillon-io/carillon/api/apitest"
)

// TestOrigins: what a browser says of the origin of a change must name this site, in each of the two headers that is
// there; and in a session one of them must be there.
func TestOrigins(t *testing.T) {
	const session = "Cookie: __Host-carillon=x"
	for _, c := range []struct {
		name    string
		headers string // one a line
		plain   int    // over HTTP; 0: it is not refused
		secured int    // over TLS
	}{
		{"a program", "", 0, 0},
		{"a program with a session", session, 403, 403},
		{"a program with a session and a token", session + "\nAuthorization: Bearer x", 0, 0},
		{"a new browser", "Origin: https://jobs.example\nSec-Fetch-Site: same-origin\n" + session, 0, 0},
		{"a browser without Sec-Fetch-Site", "Origin: https://jobs.example\n" + session, 0, 0},
		{"a browser without Origin", "Sec-Fetch-Site: same-origin\n" + session, 0, 0},
		{"the address bar", "Sec-Fetch-Site: none\n" + session, 0, 0},
		{"in capitals", "Origin: https://JOBS.example\n" + session, 0, 0},
		{"empty headers in a session", "Origin:\nSec-Fetch-Site:\n" + session, 403, 403},
		{"without TLS", "Origin: http://jobs.example", 0, 403},
		{"another site", "Sec-Fetch-Site: cross-site", 403, 403},
		{"a neighbour", "Sec-Fetch-Site: same-site", 403, 403},
		{"a new word", "Sec-Fetch-Site: cross-origin", 403, 403},
		{"another origin", "Origin: https://evil.example", 403, 403},
		{"another origin that says it is this", "Origin: https://evil.example\nSec-Fetch-Site: same-origin", 403, 403},
		{"another origin from the address bar", "Origin: https://evil.example\nSec-Fetch-Site: none", 403, 403},
		{"this origin of another site", "Origin: https://jobs.example\nSec-Fetch-Site: cross-site", 403, 403},
		{"another port", "Origin: https://jobs.example:8443", 403, 403},
		{"no origin", "Origin: null", 403, 403},
		{"an origin with a path", "Origin: https://jobs.example/", 403, 403},
		{"an origin with a user", "Origin: https://jobs.example@evil.example", 403, 403},
		{"another scheme", "Origin: ftp://jobs.example", 403, 403},
		{"two origins", "Origin: https://jobs.example\nOrigin: https://evil.example", 403, 403},
		{"two words", "Sec-Fetch-Site: same-origin\nSec-Fetch-Site: cross-site", 403, 403},
	} {
		w := &gateway{opts: Options{Logger: apitest.Quiet}}
		for secured, want := range map[*tls.ConnectionState]int{nil: c.plain, {}: c.secured} {
			req := httptest.NewRequest(http.MethodPost, "http://jobs.example/api/v1/jobs", strings.NewReader("{}"))
			req.TLS = secured
			for line := range strings.Lines(c.headers) {
				name, value, _ := strings.Cut(strings.TrimSpace(line), ":")
				req.Header.Add(name, strings.TrimSpace(value))
			}
			rec := httptest.NewRecorder()
			if refused := w.isForeign(rec, req); refused != (want != 0) || refused && rec.Code != want {
				t.Errorf("%s, TLS %t: %t, %d; want %d", c.name, secured != nil, refused, rec.Code, want)
			}
			req.Method = http.MethodGet
			if w.isForeign(httptest.NewRecorder(), req) {
				t.Errorf("%s is refused to read", c.name)
			}
		}
	}
}
