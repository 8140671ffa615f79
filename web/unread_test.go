package web

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/carillon-io/carillon/access"
	"github.com/carillon-io/carillon/api"
	"github.com/carillon-io/carillon/api/apitest"
)

// rights returns the rights of a file with one principal, a viewer of the default tenant with the token ci.
func rights(t *testing.T) *access.Keeper {
	t.Helper()
	path := filepath.Join(t.TempDir(), "auth.yaml")
	text := fmt.Sprintf("principals: [{name: ci, token_sha256: %s, grants: [{tenant: default, role: viewer}]}]\n", access.HashToken("ci"))
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	k, err := access.Open(path, apitest.Quiet, func() {})
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// TestRightsBeforeTheBody begins a request to each route with a body that never comes, of a caller without rights: the
// refusal comes at once, and the connection ends with it. Without that, the server would wait for the body.
func TestRightsBeforeTheBody(t *testing.T) {
	k := rights(t)
	s, _ := serve(t, apitest.StartEngine(t), api.Options{Access: k}, 0)
	w := startWeb(t, Options{Executor: s.Executor, Access: k, Metrics: http.NotFoundHandler()}, nil)
	type line struct{ method, path string }
	lines := []line{{"POST", "/api/v1//"}, {"POST", "/api/v1/nothing"}, {"PATCH", "/api/v1/jobs"}, {"GET", "/metrics"}}
	for i := range routes {
		if r := &routes[i]; r.verb != "" {
			lines = append(lines, line{r.method, w.pathOf(r)})
		}
	}
	var asking sync.WaitGroup
	for _, c := range lines {
		for who, want := range map[string]int{"": 401, "Authorization: Bearer no\r\n": 401, "Authorization: Bearer ci\r\n": 403} {
			if want == 403 && (c.method == "GET" && c.path != "/metrics" || c.method == "PATCH" || c.path == lines[0].path || c.path == lines[1].path) {
				continue // which the caller may ask for
			}
			for _, body := range []string{"Content-Length: 300\r\n\r\n{", "Content-Length: 300000\r\n\r\n{", "Transfer-Encoding: chunked\r\n\r\nff\r\n{"} {
				conn := w.dial(t)
				asking.Go(func() {
					if status, err := refusedAtOnce(conn, fmt.Sprintf("%s %s HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n%s%s", c.method, c.path, who, body)); status != want || err != nil {
						t.Errorf("%s %s with %q and %q: %d, %v; want %d and the end", c.method, c.path, who, body, status, err, want)
					}
				})
			}
		}
	}
	asking.Wait()
}

// refusedAtOnce sends a part of a request, and returns the status of the answer. It is an error if the server waits for the
// rest, or does not end the connection.
func refusedAtOnce(conn net.Conn, text string) (status int, err error) {
	if err := conn.SetDeadline(time.Now().Add(readTimeout / 2)); err != nil { // sooner than the server gives up reading
		return 0, err
	}
	if _, err := io.WriteString(conn, text); err != nil {
		return 0, err
	}
	in := bufio.NewReader(conn)
	res, err := http.ReadResponse(in, nil)
	if err != nil {
		return 0, err
	}
	defer res.Body.Close()
	if _, err = io.Copy(io.Discard, res.Body); err == nil {
		if _, err = in.ReadByte(); err == io.EOF {
			err = nil
		}
	}
	return res.StatusCode, err
}

// TestRefusedConnectionsGoOn: a caller whose whole request has come keeps the connection, whatever the answer is.
func TestRefusedConnectionsGoOn(t *testing.T) {
	w, _ := startWebOf(t, apitest.StartEngine(t), api.Options{})
	text := "PUT /api/v1/jobs/a HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}" +
		"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n"
	if got, _ := w.speak(t, text); fmt.Sprint(got) != "[422 200]" {
		t.Errorf("got %v", got)
	}
}
