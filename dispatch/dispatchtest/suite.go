// Package dispatchtest is the conformance suite for senders: tests of what every sender must do. The
// dispatcher passes it for each kind of target; a fake that replaces it in tests should pass it too.
package dispatchtest

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/carillon-io/carillon/instant"
	"github.com/carillon-io/carillon/job"
)

// waitMax bounds how long a test waits for an event that must occur.
const waitMax = 10 * time.Second

// Sender is the interface that the suite tests.
type Sender interface {
	Reserve(lane job.Lane, payloadBytes int, room func() bool) bool
	Release(lane job.Lane, payloadBytes int)
	Launch(d *job.Delivery, done func(job.Outcome))
	Cancel(run job.RunID)
	Close(ctx context.Context) error
}

// Bed is a fresh sender and a target for it.
type Bed struct {
	Sender Sender
	Target job.Target

	// Places is the number of concurrent attempts of a tenant at the target; fewer than [LaunchesMax].
	Places int

	// Arrivals receives what reaches the target. Its capacity is at least [LaunchesMax].
	Arrivals <-chan Arrival

	// Stall makes the target take no more attempts, or not answer them, until the test ends.
	Stall func()

	line *Line
}

// LaunchesMax is the largest number of launches in one test of the suite.
const LaunchesMax = 200

// Arrival is an attempt as its target sees it.
type Arrival struct {
	Payload []byte
	Header  func(name string) string // "" if there is none
}

// Run tests the senders that newBed makes, a new one for each test. newBed registers its clean-up with
// t.Cleanup.
func Run(t *testing.T, newBed func(t *testing.T) Bed) {
	tests := []struct {
		name string
		test func(t *testing.T, b Bed)
	}{
		{"delivers payload and headers", deliversAll},
		{"reports each outcome once", reportsOnce},
		{"does not call done inside Launch", returnsFirst},
		{"honours the timeout", honoursTimeout},
		{"calls who found no place when there is one", callsForPlace},
		{"takes a place back that is not taken", takesBack},
		{"has places for each tenant", placesOfTenants},
		{"has as many places as the target says", placesOfTarget},
		{"Cancel ends the attempt of its run and no other", cancelsOne},
		{"Cancel ends several at a full target", cancelsSeveral},
		{"Cancel of an unknown run does nothing", cancelsUnknown},
		{"Cancel after the outcome does nothing", cancelsTooLate},
		{"Close waits for attempts in flight", closeWaits},
		{"Close ends what its context does not wait for", closeCuts},
		{"refuses launches after Close", refusesClosed},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			b := newBed(t)
			b.line = NewLine(b.Sender)
			tc.test(t, b)
		})
	}
}

// delivery returns the n-th delivery of a test.
func delivery(b Bed, n int) *job.Delivery {
	return &job.Delivery{
		Run:         job.RunID{Job: 7, At: 1764576000123 + instant.Millis(n)},
		Tenant:      "default",
		Name:        "reports/daily",
		Target:      b.Target,
		Payload:     fmt.Appendf(nil, `{"n":%d}`, n),
		PayloadJSON: true,
		Attempt:     2,
		Fence:       901,
		Timeout:     waitMax,
	}
}

// launch launches as soon as a place is free, and returns the channel that receives the outcome. Its
// capacity is two, so that a second outcome is noticed.
func launch(b Bed, d *job.Delivery) <-chan job.Outcome {
	outcome := make(chan job.Outcome, 2)
	b.line.Launch(d, func(o job.Outcome) { outcome <- o })
	return outcome
}

// receive waits for a value.
func receive[T any](t *testing.T, c <-chan T, what string) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(waitMax):
		t.Fatalf("no %s after %s", what, waitMax)
		panic("unreachable")
	}
}

func deliversAll(t *testing.T, b Bed) {
	d := delivery(b, 0)
	d.Payload, d.PayloadJSON = []byte("\x00\xff bytes\r\n"), false
	d.Headers = []job.Pair{{Key: "X-Team", Value: "billing, grüße"}, {Key: "X-Trace", Value: "abc"}}
	outcome := launch(b, d)
	got := receive(t, b.Arrivals, "arrival")
	if string(got.Payload) != string(d.Payload) {
		t.Errorf("payload is %q; want %q", got.Payload, d.Payload)
	}
	want := map[string]string{
		"Carillon-Run-Id":       d.Run.String(),
		"Carillon-Job":          "reports/daily",
		"Carillon-Tenant":       "default",
		"Carillon-Scheduled-At": "2025-12-01T08:00:00.123Z",
		"Carillon-Attempt":      "2",
		"Carillon-Fence":        "901",
		"X-Team":                "billing, grüße",
		"X-Trace":               "abc",
	}
	for name, value := range want {
		if got.Header(name) != value {
			t.Errorf("header %s is %q; want %q", name, got.Header(name), value)
		}
	}
	if o := receive(t, outcome, "outcome"); o.Error != "" {
		t.Errorf("outcome has error %q", o.Error)
	}
}

func reportsOnce(t *testing.T, b Bed) {
	begin := time.Now()
	var outcomes []<-chan job.Outcome
	for n := range LaunchesMax {
		outcomes = append(outcomes, launch(b, delivery(b, n)))
	}
	for n, c := range outcomes {
		o := receive(t, c, "outcome")
		d := delivery(b, n)
		if o.Run != d.Run || o.Attempt != d.Attempt || o.Error != "" || o.Skipped != 0 {
			t.Fatalf("launch %d of run %s has outcome %+v", n, d.Run, o)
		}
		if o.LaunchedAt.Before(begin) || o.LaunchedAt.After(time.Now()) || o.Duration < 0 {
			t.Fatalf("launch %d was launched at %s for %s; the test began at %s", n, o.LaunchedAt, o.Duration, begin)
		}
	}
	closeNow(t, b)
	for n, c := range outcomes {
		if len(c) > 0 {
			t.Errorf("launch %d has a second outcome: %+v", n, <-c)
		}
	}
}

func returnsFirst(t *testing.T, b Bed) {
	var mu sync.Mutex
	outcome := make(chan job.Outcome, 1)
	mu.Lock()
	d := delivery(b, 0)
	b.Sender.Reserve(d.Lane(), len(d.Payload), nil)
	b.Sender.Launch(d, func(o job.Outcome) {
		mu.Lock() // hangs for ever if Launch calls done
		defer mu.Unlock()
		outcome <- o
	})
	mu.Unlock()
	receive(t, outcome, "outcome")
}

func honoursTimeout(t *testing.T, b Bed) {
	const timeout = 50 * time.Millisecond
	b.Stall()
	d := delivery(b, 0)
	d.Timeout = timeout
	begin := time.Now()
	o := receive(t, launch(b, d), "outcome")
	if o.Error == "" || time.Since(begin) < timeout {
		t.Errorf("after %s the outcome of a stalled attempt is %+v", time.Since(begin), o)
	}
	if len(o.Error) > job.ErrorBytesMax {
		t.Errorf("error has %d bytes: %q", len(o.Error), o.Error)
	}
}

func closeWaits(t *testing.T, b Bed) {
	outcome := launch(b, delivery(b, 0))
	receive(t, b.Arrivals, "arrival") // so it has begun, and Close has to wait for it
	closeNow(t, b)
	if len(outcome) != 1 {
		t.Fatalf("Close returned with %d outcomes; want 1", len(outcome))
	}
	if o := <-outcome; o.Error != "" {
		t.Errorf("outcome has error %q", o.Error)
	}
}

// closeNow closes and fails the test if that does not work out in time.
func closeNow(t *testing.T, b Bed) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), waitMax)
	defer cancel()
	if err := b.Sender.Close(ctx); err != nil {
		t.Errorf("close: %v", err)
	}
}

func closeCuts(t *testing.T, b Bed) {
	b.Stall()
	var outcomes []<-chan job.Outcome
	for n := range 20 {
		outcomes = append(outcomes, launch(b, delivery(b, n)))
	}
	closeAtOnce(b)
	for n, c := range outcomes {
		if len(c) != 1 {
			t.Fatalf("Close returned with %d outcomes of launch %d; want 1", len(c), n)
		}
		if o := <-c; o.Error != "stopped" {
			t.Errorf("launch %d has error %q; want stopped", n, o.Error)
		}
	}
}

// closeAtOnce closes without waiting for what is in flight.
func closeAtOnce(b Bed) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_ = b.Sender.Close(ctx) // whether any had begun is chance, and so is the error
}

func refusesClosed(t *testing.T, b Bed) {
	closeNow(t, b)
	closeNow(t, b) // again, to no effect
	o := receive(t, launch(b, delivery(b, 0)), "outcome")
	if o.Error != "stopped" || !o.LaunchedAt.IsZero() {
		t.Errorf("outcome is %+v; want error stopped and no launch", o)
	}
}
