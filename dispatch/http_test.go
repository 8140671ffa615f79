package dispatch

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/testkit"
)

func httpTarget(url string) job.Target {
	return job.Target{Kind: job.TargetHTTP, Method: "POST", URL: url}
}

func TestHTTPAnswers(t *testing.T) {
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/ok":
			w.WriteHeader(http.StatusAccepted)
		case "/moved":
			http.Redirect(w, r, "/ok", http.StatusFound)
		case "/300":
			w.WriteHeader(http.StatusMultipleChoices)
			_, _ = io.WriteString(w, "pick one")
		case "/304", "/305", "/399":
			status, _ := strconv.Atoi(r.URL.Path[1:])
			w.WriteHeader(status)
		case "/lost":
			w.Header().Set("Location", "::")
			w.WriteHeader(http.StatusPermanentRedirect)
		case "/broken":
			http.Error(w, "database is away", http.StatusServiceUnavailable)
		case "/slow":
			w.WriteHeader(http.StatusOK)
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		case "/silent":
			w.WriteHeader(http.StatusTeapot)
		case "/endless":
			w.WriteHeader(http.StatusInternalServerError)
			for _, err := io.WriteString(w, "grüße "); err == nil; {
				_, err = io.WriteString(w, "\xff and so on")
			}
		}
	})
	d := start(t, Options{AllowPrivateTargets: true}, "")
	tests := []struct{ path, want string }{
		{"/ok", ""},
		{"/slow", ""},
		{"/moved", `HTTP 302: a redirect to "/ok", which is not followed`},
		{"/300", "HTTP 300 Multiple Choices without a Location: neither success nor a redirect; want a status of 2xx: pick one"},
		{"/304", "HTTP 304 Not Modified without a Location: neither success nor a redirect; want a status of 2xx"},
		{"/305", "HTTP 305 Use Proxy without a Location: neither success nor a redirect; want a status of 2xx"},
		{"/399", "HTTP 399 without a Location: neither success nor a redirect; want a status of 2xx"},
		{"/lost", `HTTP 308: a redirect to "::", which is not followed`},
		{"/broken", "HTTP 503: database is away"},
		{"/silent", "HTTP 418"},
		{"/endless", "HTTP 500: grüße � and so on� and so on"},
	}
	for _, tc := range tests {
		o := testkit.Receive(t, launch(d, deliveryTo(httpTarget(url+tc.path), 0)))
		if o.Error != tc.want && !(tc.path == "/endless" && strings.HasPrefix(o.Error, tc.want)) {
			t.Errorf("%s: error is %q; want %q", tc.path, o.Error, tc.want)
		}
		if len(o.Error) > job.ErrorBytesMax || !utf8.ValidString(o.Error) {
			t.Errorf("%s: error has %d bytes or is not UTF-8: %q", tc.path, len(o.Error), o.Error)
		}
	}
}

func TestHTTPRequest(t *testing.T) {
	type request struct {
		method, body string
		header       http.Header
	}
	requests := make(chan request, 1)
	url := serve(t, func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		requests <- request{r.Method, string(body), r.Header}
	})
	d := start(t, Options{AllowPrivateTargets: true}, "")
	json := func(del *job.Delivery) { del.PayloadJSON = true }
	tests := []struct {
		name, method, wantMethod, wantBody, wantType string
		edit                                         func(*job.Delivery)
	}{
		{"bytes", "PUT", "PUT", "hello", "application/octet-stream", nil},
		{"JSON", "", "POST", "hello", "application/json", json},
		{"own content type", "POST", "POST", "hello", "text/csv", func(del *job.Delivery) {
			del.Headers = []job.Pair{{Key: "content-type", Value: "text/csv"}}
		}},
		{"GET has no body", "GET", "GET", "", "", json},
		{"no payload", "DELETE", "DELETE", "", "", func(del *job.Delivery) { del.Payload = nil }},
	}
	for _, tc := range tests {
		del := deliveryTo(httpTarget(url), 0)
		del.Target.Method = tc.method
		if tc.edit != nil {
			tc.edit(del)
		}
		if o := testkit.Receive(t, launch(d, del)); o.Error != "" {
			t.Errorf("%s: %s", tc.name, o.Error)
			continue
		}
		got := testkit.Receive(t, requests)
		if got.method != tc.wantMethod || got.body != tc.wantBody || got.header.Get("Content-Type") != tc.wantType {
			t.Errorf("%s: got %+v", tc.name, got)
		}
		if got.header.Get("Idempotency-Key") != del.Run.String() {
			t.Errorf("%s: idempotency key is %q", tc.name, got.header.Get("Idempotency-Key"))
		}
	}
}

func TestHTTPErrorsKeepTheURLSecret(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close() // now nobody listens there
	d := start(t, Options{AllowPrivateTargets: true}, "")
	o := testkit.Receive(t, launch(d, deliveryTo(httpTarget("http://"+l.Addr().String()+"/hook?token=s3cret"), 0)))
	if !strings.Contains(o.Error, "refused") || strings.Contains(o.Error, "s3cret") {
		t.Errorf("error is %q", o.Error)
	}
}

func TestHTTPS(t *testing.T) {
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if r.ProtoMajor != 2 {
			t.Errorf("protocol is %s; want HTTP/2", r.Proto)
		}
	}))
	s.EnableHTTP2 = true
	s.Config.ErrorLog = log.New(io.Discard, "", 0) // it complains of the client that it fails
	s.StartTLS()
	t.Cleanup(s.Close)
	roots := x509.NewCertPool()
	roots.AddCert(s.Certificate())
	target := httpTarget(s.URL)
	d := start(t, Options{AllowPrivateTargets: true, TLS: &tls.Config{RootCAs: roots}}, "")
	if o := testkit.Receive(t, launch(d, deliveryTo(target, 0))); o.Error != "" {
		t.Errorf("with the right root: %s", o.Error)
	}
	d = start(t, Options{AllowPrivateTargets: true}, "")
	if o := testkit.Receive(t, launch(d, deliveryTo(target, 0))); !strings.Contains(o.Error, "certificate") {
		t.Errorf("without it: error is %q", o.Error)
	}
}

// TestHTTPPrivateAddresses has a real server on loopback, which must not be reached by any name.
func TestHTTPPrivateAddresses(t *testing.T) {
	url := serve(t, func(http.ResponseWriter, *http.Request) { t.Error("a private address was reached") })
	_, port, _ := net.SplitHostPort(strings.TrimPrefix(url, "http://"))
	resolveAll(t, [4]byte{127, 0, 0, 1})
	d := start(t, Options{}, "")
	for _, host := range []string{"127.0.0.1", "localhost", "[::1]", "[::ffff:127.0.0.1]", "rebind.example.com"} {
		o := testkit.Receive(t, launch(d, deliveryTo(httpTarget("http://"+host+":"+port), 0)))
		if !strings.Contains(o.Error, "loopback or private address") || !o.Refused {
			t.Errorf("%s: outcome is %+v", host, o)
		}
	}
}

// resolveAll makes every name resolve to one address, until the test ends.
func resolveAll(t *testing.T, ip [4]byte) {
	before := net.DefaultResolver
	t.Cleanup(func() { net.DefaultResolver = before })
	net.DefaultResolver = &net.Resolver{
		PreferGo: true,
		Dial: func(context.Context, string, string) (net.Conn, error) {
			client, server := net.Pipe()
			go answerDNS(server, ip)
			return client, nil
		},
	}
}

// answerDNS answers questions for A records, framed as DNS is over TCP. Others get no records.
func answerDNS(conn net.Conn, ip [4]byte) {
	defer conn.Close()
	for {
		var size [2]byte
		if _, err := io.ReadFull(conn, size[:]); err != nil {
			return
		}
		query := make([]byte, binary.BigEndian.Uint16(size[:]))
		if _, err := io.ReadFull(conn, query); err != nil {
			return
		}
		end := 12
		for query[end] != 0 {
			end += int(query[end]) + 1
		}
		end += 5 // the root label, type and class
		reply := append([]byte(nil), query[:end]...)
		copy(reply[2:], []byte{0x81, 0x80, 0, 1, 0, 0, 0, 0, 0, 0}) // a response with one question
		if kind := binary.BigEndian.Uint16(query[end-4:]); kind == 1 {
			reply[7] = 1
			reply = append(reply, 0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4)
			reply = append(reply, ip[:]...)
		}
		if _, err := conn.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(reply))), reply...)); err != nil {
			return
		}
	}
}
