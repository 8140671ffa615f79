package dispatch

import (
	"context"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/carillon-io/carillon/testkit"
)

// TestIdleSocketsMakeRoom sends to more targets than there may be connections, each of which keeps its own open: an idle one ends for a
// new one.
func TestIdleSocketsMakeRoom(t *testing.T) {
	const most = 3
	d := start(t, Options{AllowPrivateTargets: true, HTTPMax: most}, "")
	began := time.Now()
	for n := range 3 * most {
		url := serve(t, func(http.ResponseWriter, *http.Request) {})
		if o := testkit.Receive(t, launch(d, deliveryTo(httpTarget(url), n))); o.Error != "" {
			t.Fatalf("attempt %d: %s", n, o.Error)
		}
	}
	if took := time.Since(began); took > idleConnTimeout {
		t.Errorf("the attempts took %s: they waited until idle connections ended by themselves", took)
	}
}

// TestSocketsInUse takes all sockets: the next one waits, and its attempt fails with what to do. A socket comes back once when its
// connection ends, however often that is closed, and at once if there is no connection.
func TestSocketsInUse(t *testing.T) {
	s := &sockets{taken: make(chan struct{}, 1), closeIdle: func() {}}
	fails := false
	dial := s.bounded(func(context.Context, string, string) (net.Conn, error) {
		if fails {
			return nil, net.ErrClosed
		}
		conn, _ := net.Pipe()
		return conn, nil
	})
	conn, err := dial(t.Context(), "tcp", "a:1")
	if err != nil {
		t.Fatal(err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := dial(ended, "tcp", "a:1"); err == nil || !strings.Contains(err.Error(), "ulimit -n") {
		t.Errorf("with all sockets in use the error is %v", err)
	}
	_, _ = conn.Close(), conn.Close()
	fails = true
	for range 2 {
		if _, err := dial(t.Context(), "tcp", "a:1"); err != net.ErrClosed {
			t.Errorf("error %v", err)
		}
	}
	if len(s.taken) != 0 {
		t.Errorf("%d sockets are in use", len(s.taken))
	}
}

// TestSocketsOfSilentTargets makes attempts at targets that accept a connection and never shake hands: no socket outlasts its attempt, so
// a healthy target is reached as before.
func TestSocketsOfSilentTargets(t *testing.T) {
	const most = 3
	d := start(t, Options{AllowPrivateTargets: true, HTTPMax: most}, "")
	healthy := serve(t, func(http.ResponseWriter, *http.Request) {})
	for n := range 4 * most {
		silent, err := net.Listen("tcp", "127.0.0.1:0") // the system accepts, and nobody answers
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = silent.Close() })
		del := deliveryTo(httpTarget("https://"+silent.Addr().String()), n)
		del.Timeout = 20 * time.Millisecond
		if o := testkit.Receive(t, launch(d, del)); o.Error == "" {
			t.Fatal("a target that never shook hands has taken a run")
		}
	}
	began := time.Now()
	if o := testkit.Receive(t, launch(d, deliveryTo(httpTarget(healthy), 0))); o.Error != "" || time.Since(began) > dialTimeout/2 {
		t.Errorf("after %s a healthy target has %q", time.Since(began), o.Error)
	}
}
