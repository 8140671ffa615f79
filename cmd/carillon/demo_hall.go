package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
)

// demoFailures is the number of attempts of a run that the flaky receiver refuses. The job has one attempt more, so
// that it succeeds in the end.
const demoFailures = 2

// firing is one attempt as a receiver of the demo got it. received is the wall clock of this machine, which is that
// of the server, so the difference is a lateness.
type firing struct {
	job       string
	scheduled time.Time
	received  time.Time
	attempt   int
	how       string
	failed    bool
}

// demoHall has the receivers of the demo's runs: a NATS subscription and an HTTP server. Both read the time of receipt
// first. Receivers and display are separate goroutines, so that printing does not delay a receipt.
type demoHall struct {
	// bounded; what is received while it is full is dropped
	firings chan firing
	// url has the port that the system chose.
	url  string
	web  *http.Server
	done chan struct{} // closed when the HTTP server has ended
	sub  *nats.Subscription
}

// openDemoHall starts the receivers. The subscription is in force when it returns.
func openDemoHall(nc *nats.Conn) (*demoHall, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listen for the demo's webhooks: %w", err)
	}
	h := &demoHall{
		firings: make(chan firing, 1024), done: make(chan struct{}),
		url: "http://" + listener.Addr().String(),
	}
	h.web = &http.Server{Handler: h, ReadHeaderTimeout: 5 * time.Second}
	go func() {
		defer close(h.done)
		if err := h.web.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			h.hear(firing{how: err.Error(), failed: true})
		}
	}()
	h.sub, err = nc.Subscribe(demoSubjects+"*", func(m *nats.Msg) {
		f := newFiring(time.Now(), m.Header.Get)
		f.how = "nats " + m.Subject
		h.hear(f)
	})
	if err == nil {
		// The subscription is in force when the server has answered this.
		err = nc.Flush()
	}
	return h, err
}

// ServeHTTP receives a webhook. The path /flaky refuses the first attempts of a run.
func (h *demoHall) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f := newFiring(time.Now(), r.Header.Get)
	status := http.StatusNoContent
	if strings.HasSuffix(r.URL.Path, "/flaky") && f.attempt <= demoFailures {
		status, f.failed = http.StatusServiceUnavailable, true
	}
	w.WriteHeader(status)
	f.how = fmt.Sprintf("http %s %s, attempt %d, answered %d", r.Method, r.URL.Path, f.attempt, status)
	h.hear(f)
}

// newFiring reads the headers of an attempt. A header that is missing leaves a zero; the server under demonstration
// always sends them.
func newFiring(received time.Time, header func(string) string) firing {
	f := firing{job: strings.TrimPrefix(header("Carillon-Job"), "demo/"), received: received}
	f.scheduled, _ = time.Parse(time.RFC3339Nano, header("Carillon-Scheduled-At"))
	f.attempt, _ = strconv.Atoi(header("Carillon-Attempt"))
	return f
}

// hear passes a firing to the demo. If the queue is full, because the demo has ended, the firing is dropped. It never
// blocks: a receiver that waits for the display would make the next lateness too large.
func (h *demoHall) hear(f firing) {
	select {
	case h.firings <- f:
	default:
	}
}

// close stops the receivers. It waits at most 2 s for webhooks in progress.
func (h *demoHall) close() {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	if err := h.web.Shutdown(ctx); err != nil {
		_ = h.web.Close()
	}
	<-h.done
	if h.sub != nil {
		_ = h.sub.Unsubscribe()
	}
}
