package dispatch

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/testkit"
)

// listenRaw is a target without a web server: each connection is given to talk. gone gets a token when the connection ends after
// that, and it ends only if the other side ends it.
func listenRaw(t *testing.T, talk func(net.Conn)) (url string, gone <-chan struct{}) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	ended := make(chan struct{}, 10)
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				talk(conn)
				_, _ = io.Copy(io.Discard, conn)
				ended <- struct{}{}
			}()
		}
	}()
	return "http://" + l.Addr().String(), ended
}

// say is a talk that reads a request, and answers it with a text.
func say(text string) func(net.Conn) {
	return func(conn net.Conn) {
		req, err := http.ReadRequest(bufio.NewReader(conn))
		if err != nil {
			return
		}
		_, _ = io.Copy(io.Discard, req.Body)
		_, _ = io.WriteString(conn, text)
	}
}

// TestHTTPSwitchingProtocols has targets that change to another protocol and keep the connection open, as one for web sockets does. Carillon
// has not asked for that. The attempt fails at once and for good, and neither its place nor the connection is left.
func TestHTTPSwitchingProtocols(t *testing.T) {
	const want = "HTTP 101 Switching Protocols: the target changes to another protocol, which Carillon does not speak; want a status of 2xx"
	const head = "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
	answers := []struct{ name, text string }{
		{"silence", head + "\r\n"},
		{"words of the other protocol", head + "\r\n" + strings.Repeat("frame", 10_000)},
		{"without a name of the protocol", "HTTP/1.1 101 Switching Protocols\r\n\r\n"},
		{"with the length of a body", head + "Content-Length: 100\r\n\r\n"},
	}
	for _, tc := range answers {
		t.Run(tc.name, func(t *testing.T) {
			url, gone := listenRaw(t, say(tc.text))
			d := start(t, Options{AllowPrivateTargets: true}, "")
			if o := testkit.Receive(t, launch(d, deliveryTo(httpTarget(url), 0))); o.Error != want || !o.Refused {
				t.Errorf("outcome is %+v", o)
			}
			testkit.Receive(t, gone)
			testkit.Until(t, "the place is free", func() bool { return d.Stats().Lanes == 0 })
		})
	}
}

// deafBody is the body of an answer that never comes. Only its Close ends a read, whatever becomes of the request.
type deafBody struct{ *io.PipeReader }

// RoundTrip implements http.RoundTripper with an answer whose status is the path.
func (b deafBody) RoundTrip(req *http.Request) (*http.Response, error) {
	status := map[string]int{"/200": 200, "/302": 302, "/500": 500}[req.URL.Path]
	return &http.Response{StatusCode: status, Header: http.Header{"Location": {"/"}}, Body: b}, nil
}

// TestHTTPBodyEndsInTime reads bodies that ignore the end of the request. Each read ends when its time is over, or with its attempt.
func TestHTTPBodyEndsInTime(t *testing.T) {
	for _, path := range []string{"/200", "/302", "/500"} {
		for timeout, want := range map[time.Duration]time.Duration{time.Minute: drainTimeMax, drainTimeMax / 2: drainTimeMax / 2} {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), timeout)
				defer cancel()
				body, end := io.Pipe()
				defer time.AfterFunc(time.Hour, func() { end.Close() }).Stop() // or the test would hang, and not fail
				req := httptest.NewRequestWithContext(ctx, http.MethodPost, path, nil)
				begun := time.Now()
				err := exchange(deafBody{body}, req, job.Credentials{})
				if took := time.Since(begun); took != want || (err == nil) != (path == "/200") {
					t.Errorf("%s with a timeout of %s: took %s, error %v; want %s", path, timeout, took, err, want)
				}
			})
		}
	}
}

// much is a payload that no buffers on the way to a target hold.
var much = bytes.Repeat([]byte("much"), 8<<20)

// TestHTTPHeldAttemptsLetGo has targets that stop at each point of an exchange. As soon as the attempt is over, its place is free.
func TestHTTPHeldAttemptsLetGo(t *testing.T) {
	expect := []job.Pair{{Key: "Expect", Value: "100-continue"}}
	held := []struct {
		name    string
		scheme  string
		headers []job.Pair
		payload []byte
		talk    func(net.Conn)
		keeps   bool // the connection outlasts the attempt
	}{
		{name: "reads no body", payload: much, talk: readHead},
		{name: "stops in its head", talk: say("HTTP/1.1 200 OK\r\nX: ")},
		{name: "says nothing after Continue", headers: expect, talk: say("HTTP/1.1 100 Continue\r\n\r\n")},
		{name: "gets the body that was to wait", headers: expect, talk: say("")},
		{name: "reads no body that was to wait", headers: expect, payload: much, talk: readHead},
		{name: "shakes no hands", scheme: "https", talk: func(conn net.Conn) { _, _ = io.ReadFull(conn, make([]byte, 16)) }, keeps: true},
	}
	for _, tc := range held {
		t.Run(tc.name, func(t *testing.T) {
			reached, over := make(chan struct{}, 1), make(chan struct{})
			url, gone := listenRaw(t, func(conn net.Conn) {
				tc.talk(conn)
				reached <- struct{}{}
				<-over
			})
			if tc.scheme != "" {
				url = tc.scheme + strings.TrimPrefix(url, "http")
			}
			d := start(t, Options{AllowPrivateTargets: true}, "")
			del := deliveryTo(httpTarget(url), 0)
			del.Headers, del.Timeout = tc.headers, time.Hour
			if tc.payload != nil {
				del.Payload = tc.payload
			}
			outcome := launch(d, del)
			testkit.Receive(t, reached)
			d.Cancel(del.Run)
			if o := testkit.Receive(t, outcome); o.Error != ErrCancelled.Error() {
				t.Errorf("outcome is %+v", o)
			}
			testkit.Until(t, "the place is free", func() bool { return d.Stats().Lanes == 0 })
			close(over)
			if !tc.keeps {
				testkit.Receive(t, gone)
			}
		})
	}
}

// readHead reads the head of a request, a byte at a time, so that its body stays unread.
func readHead(conn net.Conn) {
	var head []byte
	for one := make([]byte, 1); !bytes.HasSuffix(head, []byte("\r\n\r\n")); head = append(head, one...) {
		if _, err := conn.Read(one); err != nil {
			return
		}
	}
}

// TestHTTPEarlyAndEndlessAnswers has targets whose answers come before the request is read, or never end. The attempts end by themselves.
func TestHTTPEarlyAndEndlessAnswers(t *testing.T) {
	const tooLong = "server response headers exceeded 65536 bytes"
	answers := []struct {
		name, want string
		payload    []byte
		talk       func(net.Conn)
	}{
		{"accepts what it has not read", "", much, func(conn net.Conn) {
			readHead(conn)
			_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
		}},
		{"and begins a body", "", much, func(conn net.Conn) { readHead(conn); _, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\n\r\n.") }},
		{"endless head", tooLong, nil, endless("HTTP/1.1 200 OK\r\n", "X: y\r\n")},
		{"endless line", tooLong, nil, endless("HTTP/1.1 200 OK\r\nX: ", "y")},
		{"endless heads", tooLong, nil, endless("", "HTTP/1.1 103 Early Hints\r\n\r\n")},
	}
	for _, tc := range answers {
		t.Run(tc.name, func(t *testing.T) {
			over := make(chan struct{})
			url, gone := listenRaw(t, func(conn net.Conn) {
				tc.talk(conn)
				<-over
			})
			d := start(t, Options{AllowPrivateTargets: true}, "")
			del := deliveryTo(httpTarget(url), 0)
			del.Timeout = time.Hour
			if tc.payload != nil {
				del.Payload = tc.payload
			}
			if o := testkit.Receive(t, launch(d, del)); !strings.Contains(o.Error, tc.want) || (o.Error == "") != (tc.want == "") {
				t.Errorf("error is %q, want %q", o.Error, tc.want)
			}
			close(over)
			testkit.Receive(t, gone)
			testkit.Until(t, "the place is free", func() bool { return d.Stats().Lanes == 0 })
		})
	}
}

// endless is a talk that begins an answer and repeats a text until the connection ends.
func endless(first, more string) func(net.Conn) {
	return func(conn net.Conn) {
		say(first)(conn)
		more = strings.Repeat(more, 100)
		for _, err := io.WriteString(conn, more); err == nil; {
			_, err = io.WriteString(conn, more)
		}
	}
}
