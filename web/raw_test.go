package web

import (
	"bufio"
	"fmt"
	"github.com/carillon-io/carillon/api"
	"github.com/carillon-io/carillon/api/apitest"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// dial opens a connection to the server, which has [apitest.Patience] for all that follows. It ends with the test.
func (w *webWorld) dial(t *testing.T) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", w.server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(apitest.Patience)); err != nil {
		t.Fatal(err)
	}
	return conn
}

// speak sends bytes as they are and returns what comes back until the server ends the connection.
func (w *webWorld) speak(t *testing.T, text string) (statuses []int, headers []http.Header) {
	t.Helper()
	conn := w.dial(t)
	go func() { // the server may answer before it has read all
		_, _ = io.WriteString(conn, text)
	}()
	r := bufio.NewReader(conn)
	for {
		res, err := http.ReadResponse(r, nil)
		if err != nil {
			if ne, ok := err.(net.Error); ok && ne.Timeout() {
				t.Error("the server does not end the connection")
			}
			return statuses, headers
		}
		_, _ = io.Copy(io.Discard, res.Body)
		res.Body.Close()
		statuses, headers = append(statuses, res.StatusCode), append(headers, res.Header)
	}
}

// rawRequest is what is sent as it stands.
type rawRequest struct {
	name, text string
	want       string // statuses
}

// rawRequests lists them, by what is odd about them.
func rawRequests() []rawRequest {
	job := apitest.JobWith("name", "-")
	put := func(headers string) string {
		return "PUT /api/v1/jobs/raw HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n" + headers + "\r\n"
	}
	get := func(path, headers string) string {
		return "GET " + path + " HTTP/1.1\r\nHost: localhost\r\n" + headers + "\r\n"
	}
	length := fmt.Sprintf("Content-Length: %d\r\n", len(job))
	return []rawRequest{
		{"nothing", "", "[]"},
		{"line ends", "\r\n\r\n\r\n", "[400]"},
		{"another protocol", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + strings.Repeat("\x00", 100), "[400]"},
		{"NATS", "CONNECT {}\r\nPING\r\n", "[400]"},
		{"HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "[421]"},
		{"HTTP/3.0", "GET / HTTP/3.0\r\n\r\n", "[505]"},
		{"HTTP/1.0", "GET /api/v1/jobs HTTP/1.0\r\nHost: localhost\r\n\r\n", "[200]"},
		{"HTTP/1.0 without a host", "GET /api/v1/jobs HTTP/1.0\r\n\r\n", "[421]"},
		{"HTTP/0.9", "GET /\r\n\r\n", "[400]"},
		{"no host", "GET /api/v1/jobs HTTP/1.1\r\n\r\n", "[400]"},
		{"two hosts", "GET /api/v1/jobs HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n", "[400]"},
		{"another host in the target", "GET http://evil.example/api/v1/jobs HTTP/1.1\r\nHost: localhost\r\n\r\n", "[421]"},
		{"a tunnel", "CONNECT evil.example:80 HTTP/1.1\r\nHost: localhost\r\n\r\n", "[421]"},
		{"options of all", "OPTIONS * HTTP/1.1\r\nHost: localhost\r\n\r\n", "[404]"},
		{"lower case", "get /api/v1/jobs HTTP/1.1\r\nHost: localhost\r\n\r\n", "[405]"},
		{"no such method", "BREW /api/v1/jobs HTTP/1.1\r\nHost: localhost\r\n\r\n", "[405]"},
		{"blanks in a method", "GET  /api/v1/jobs HTTP/1.1\r\nHost: localhost\r\n\r\n", "[400]"},
		{"line break in a path", "GET /api/v1/jobs\r\nX: y HTTP/1.1\r\nHost: localhost\r\n\r\n", "[400]"},
		{"line break in a name", get("/api/v1/jobs/a%0d%0aX-A:%201", ""), "[422]"},
		{"NUL in a name", get("/api/v1/jobs/a%00", ""), "[422]"},
		{"half an escape", get("/api/v1/jobs/a%2", ""), "[400]"},
		{"dots", get("/api/v1/jobs/../../../etc/passwd", ""), "[404]"},
		{"escaped dots", get("/api/v1/%2e%2e/%2e%2e/etc/passwd", ""), "[404]"},
		{"dots beyond the root", get("/../../etc/passwd", ""), "[404]"},
		{"two slashes", get("//evil.example/healthz", ""), "[404]"},
		{"back slashes", get("/api/v1/jobs/..\\..\\etc", ""), "[422]"},
		{"broken header", get("/api/v1/jobs", "no colon\r\n"), "[400]"},
		{"blank before a colon", get("/api/v1/jobs", "X-A : 1\r\n"), "[400]"},
		{"folded header", get("/api/v1/jobs", "X-A: 1\r\n 2\r\n"), "[200]"},
		{"NUL in a header", get("/api/v1/jobs", "X-A: \x00\r\n"), "[400]"},
		{"control character in who asks", get("/api/v1/jobs", "Carillon-By: a\tb\r\n"), "[422]"},
		{"large header", get("/api/v1/jobs", "X-A: "+strings.Repeat("x", 2*headerBytesMax)+"\r\n"), "[431]"},
		{"many headers", get("/api/v1/jobs", strings.Repeat("X-A: 1\r\n", headerBytesMax/2)), "[431]"},
		{"endless header", "GET /api/v1/jobs HTTP/1.1\r\nHost: localhost\r\nX-A: " + strings.Repeat("x", 4*headerBytesMax), "[431]"},
		{"large query", get("/api/v1/jobs?prefix="+strings.Repeat("x", 2*headerBytesMax), ""), "[431]"},
		{"many parameters", get("/api/v1/jobs?"+strings.Repeat("a&", headerBytesMax/4), ""), "[400]"},
		{"two lengths", put("Content-Length: 5\r\nContent-Length: 6\r\n") + job, "[400]"},
		{"negative length", put("Content-Length: -1\r\n") + job, "[400]"},
		{"length with a sign", put("Content-Length: +5\r\n") + job, "[400]"},
		{"length beyond all numbers", put("Content-Length: 99999999999999999999\r\n") + job, "[400]"},
		{"unknown coding", put("Transfer-Encoding: gzip, chunked\r\n") + job, "[501]"},
		{"chunked twice", put("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n") + job, "[501]"},
		{"no chunk", put("Transfer-Encoding: chunked\r\n") + "zz\r\n", "[400]"},
		{"chunk of 2^63", put("Transfer-Encoding: chunked\r\n") + "8000000000000000\r\n", "[400]"},
		{"chunk without its end", put("Transfer-Encoding: chunked\r\n") + "2\r\n{}xx", "[400]"},
		{"half a body", put(length) + job[:9], "[400]"},
		{"compressed", put(length+"Content-Encoding: gzip\r\n") + job, "[415]"},
		{"identity", put(length+"Content-Encoding: identity\r\n") + job, "[415]"},
		{"another expectation", put(length+"Expect: 200-ok\r\n") + job, "[417]"},
		{"patience with a large body", put("Content-Length: 1099511627776\r\nExpect: 100-continue\r\n"), "[413]"},
		{"body of a GET", get("/api/v1/jobs", length) + job, "[422]"},
		{"garbage behind a request", get("/api/v1/jobs", "") + "garbage\r\n\r\n", "[200 400]"},
		{"three at once", get("/api/v1/jobs", "") + get("/healthz", "") + get("/api/v1/jobs/a%00", ""), "[200 200 422]"},
		{"upgrade", get("/api/v1/jobs", "Connection: Upgrade\r\nUpgrade: websocket\r\n"), "[200]"},
	}
}

// TestRawRequests sends what no client library sends. Each request is refused or ends the connection, nothing is put,
// and the next client is served.
func TestRawRequests(t *testing.T) {
	s, _ := serve(t, apitest.StartEngine(t), api.Options{}, 0)
	opts := Options{Executor: s.Executor, Hosts: HostsLocal}
	w := startWeb(t, opts, func(server *http.Server) {
		server.ReadHeaderTimeout, server.ReadTimeout, server.IdleTimeout = 200*time.Millisecond, 300*time.Millisecond, 200*time.Millisecond
	})
	t.Run("all", func(t *testing.T) {
		for _, c := range rawRequests() {
			t.Run(c.name, func(t *testing.T) {
				t.Parallel()
				got, headers := w.speak(t, c.text)
				if fmt.Sprint(got) != c.want {
					t.Errorf("got %v, want %s", got, c.want)
				}
				for _, h := range headers {
					if to := h.Get("Location"); to != "" && (to[0] != '/' || strings.HasPrefix(to, "//")) {
						t.Errorf("sent on to %s, which is another site", to)
					}
				}
			})
		}
	})
	if got := w.ask("GET", "/api/v1/jobs", ""); got.status != 200 || got.body != "{\"jobs\":[]}\n" {
		t.Errorf("after all that: %d %s", got.status, got.body)
	}
}

// TestHalfClosed: a client that closes its half after a request is answered; one that does so within a request gets a
// refusal.
func TestHalfClosed(t *testing.T) {
	w, _ := startWebOf(t, apitest.StartEngine(t), api.Options{})
	for text, want := range map[string]int{
		"GET /api/v1/jobs HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n":                                                             200,
		"GET /api/v1/jobs HTTP/1.1\r\nHost: 127.0.0.1\r\nX-A: ":                                                            400,
		"PUT /api/v1/jobs/a HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: 500\r\n\r\n{": 400,
	} {
		conn := w.dial(t)
		if _, err := io.WriteString(conn, text); err != nil {
			t.Fatal(err)
		}
		if err := conn.(*net.TCPConn).CloseWrite(); err != nil {
			t.Fatal(err)
		}
		status := 0
		if res, err := http.ReadResponse(bufio.NewReader(conn), nil); err == nil {
			status = res.StatusCode
			res.Body.Close()
		}
		if status != want {
			t.Errorf("%.40q: %d, want %d", text, status, want)
		}
	}
}
