package dispatch

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/testkit"
)

// breaker is a target that keeps connections open, and then closes each without an answer when a request comes.
type breaker struct {
	mu       sync.Mutex
	breaks   bool
	requests int
	version  int            // of HTTP, of the last request
	warm     sync.WaitGroup // requests that still have to be here at a time, so that each has a connection of its own
}

func (b *breaker) ServeHTTP(_ http.ResponseWriter, r *http.Request) {
	b.mu.Lock()
	breaks := b.breaks
	b.requests++
	b.version = r.ProtoMajor
	b.mu.Unlock()
	if breaks {
		panic(http.ErrAbortHandler)
	}
	b.warm.Done()
	b.warm.Wait()
}

// breakAll begins to break connections, and returns how many requests have come before, and by which version of HTTP.
func (b *breaker) breakAll() (requests, version int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	requests, b.requests, b.breaks = b.requests, 0, true
	return requests, b.version
}

// TestHTTPIsSentOnce sends to a target that closes kept-alive connections without an answer, as one does whose process is restarted.
// One attempt is one request, however many other connections are open.
func TestHTTPIsSentOnce(t *testing.T) {
	idempotent := []job.Pair{{Key: "x-idempotency-key", Value: "own"}, {Key: "idempotency-key", Value: "own"}}
	for _, method := range []string{"POST", "PUT", "PATCH", "DELETE", "GET"} {
		for _, payload := range []string{"", "hello"} {
			for _, headers := range [][]job.Pair{nil, idempotent} {
				for _, version := range []int{1, 2} {
					t.Run(fmt.Sprintf("%s of %d bytes, %d headers, HTTP/%d", method, len(payload), len(headers), version), func(t *testing.T) {
						del := deliveryTo(job.Target{Kind: job.TargetHTTP, Method: method}, 0)
						del.Payload, del.Headers = []byte(payload), headers
						sendOnceTo(t, del, version)
					})
				}
			}
		}
	}
}

// sendOnceTo opens some connections to a target, and then makes one attempt that it breaks off.
func sendOnceTo(t *testing.T, del *job.Delivery, version int) {
	const connections = 4
	target := new(breaker)
	server := httptest.NewUnstartedServer(target)
	server.EnableHTTP2 = version == 2
	opts := Options{AllowPrivateTargets: true}
	if version == 2 {
		server.StartTLS()
		opts.TLS = server.Client().Transport.(*http.Transport).TLSClientConfig
	} else {
		server.Start()
	}
	t.Cleanup(server.Close)
	d := start(t, opts, "")
	del.Target.URL = server.URL
	target.warm.Add(connections)
	var opened []<-chan job.Outcome
	for range connections {
		opened = append(opened, launch(d, del))
	}
	for _, outcome := range opened {
		if o := testkit.Receive(t, outcome); o.Error != "" {
			t.Fatal("a first request failed:", o.Error)
		}
	}
	target.breakAll()
	o := testkit.Receive(t, launch(d, del))
	requests, by := target.breakAll()
	if requests != 1 || o.Error == "" || o.Refused {
		t.Errorf("one attempt made %d requests, with the outcome %+v", requests, o)
	}
	if by != version {
		t.Errorf("the request came by HTTP/%d", by)
	}
	if want := "the target closed the connection without an answer"; version == 1 && o.Error != want {
		t.Errorf("error %q, want %q", o.Error, want)
	}
}
