package server_test

import (
	"errors"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/testkit"
)

// TestReportedRunOutlivesARestart: a worker receives a run, the server restarts, and the worker's report
// counts; a report with another fence does not.
func TestReportedRunOutlivesARestart(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	s := start(t, dir)
	nc, c := connect(t, s)
	given := make(chan *nats.Msg, 4)
	if _, err := nc.ChanSubscribe("work", given); err != nil {
		t.Fatal(err)
	}
	_, _, err := c.Put(t.Context(), client.Job{
		Name: "w", Schedule: "@yearly", Target: client.Target{Kind: "nats", Subject: "work"}, Completion: "reported",
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Trigger(t.Context(), client.TriggerRequest{Name: "w"}); err != nil {
		t.Fatal(err)
	}
	m := testkit.Receive(t, given)
	id := m.Header.Get("Carillon-Run-Id")
	fence, err := strconv.ParseUint(m.Header.Get("Carillon-Fence"), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Extend(t.Context(), id, fence, time.Minute); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(t.Context()); err != nil {
		t.Fatal(err)
	}

	s = start(t, dir)
	_, c = connect(t, s)
	if run, err := c.Run(t.Context(), id); err != nil || run.Status != "running" || run.Fence != fence {
		t.Errorf("after the restart: %+v, %v", run, err)
	}
	report := client.ReportRequest{RunID: id, Fence: fence + 1, Status: client.OutcomeSucceeded}
	if _, err := c.Report(t.Context(), report); !errors.Is(err, client.CodeStaleFence) {
		t.Errorf("a report with another fence: %v", err)
	}
	report.Fence, report.Result = fence, "5 rows"
	for range 2 { // the second is the same report again
		run, err := c.Report(t.Context(), report)
		if err != nil || run.Status != "succeeded" || run.Result != "5 rows" || run.StaleReports != 1 {
			t.Errorf("the report: %+v, %v", run, err)
		}
	}
}

// TestDeadLettersAndEvents: a run that fails for good is published with its payload and its error, and the
// stream of events has its outcome.
func TestDeadLettersAndEvents(t *testing.T) {
	o := options(filepath.Join(t.TempDir(), "data"))
	o.Events, o.EventsMaxBytes = true, 1<<20
	s := startWith(t, o)
	nc, c := connect(t, s)
	letters := make(chan *nats.Msg, 4)
	if _, err := nc.ChanSubscribe("carillon.dead.>", letters); err != nil {
		t.Fatal(err)
	}
	_, _, err := c.Put(t.Context(), client.Job{
		Name: "d", Schedule: "@yearly", Target: client.Target{Kind: "request", Subject: "nobody"},
		Payload: []byte(`{"n":1}`), Retry: client.Retry{MaxAttempts: 2, InitialInterval: client.Duration(10 * time.Millisecond)},
	})
	if err != nil {
		t.Fatal(err)
	}
	run, err := c.Trigger(t.Context(), client.TriggerRequest{Name: "d"})
	if err != nil {
		t.Fatal(err)
	}
	m := testkit.Receive(t, letters)
	if m.Subject != "carillon.dead.default" || string(m.Data) != `{"n":1}` || m.Header.Get("Carillon-Run-Id") != run.RunID ||
		m.Header.Get("Carillon-Attempt") != "2" || !strings.Contains(m.Header.Get("Carillon-Error"), "no service listens") {
		t.Errorf("dead letter %s: %s %v", m.Subject, m.Data, m.Header)
	}
	if got := statesOf(t, nc, 3); got != "pending retrying dead" {
		t.Errorf("events: %s", got)
	}
	page, err := c.ListRuns(t.Context(), client.RunListRequest{Status: "dead"})
	if err != nil || len(page.Runs) != 1 || page.Runs[0].RunID != run.RunID {
		t.Errorf("dead runs: %+v, %v", page.Runs, err)
	}
}

// statesOf returns the states in the first n events of the stream.
func statesOf(t *testing.T, nc *nats.Conn, n int) string {
	t.Helper()
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	consumer, err := js.OrderedConsumer(t.Context(), "CARILLON_EVENTS", jetstream.OrderedConsumerConfig{})
	if err != nil {
		t.Fatal(err)
	}
	var states []string
	for range n {
		m, err := consumer.Next(jetstream.FetchMaxWait(10 * time.Second))
		if err != nil {
			t.Fatal(err)
		}
		states = append(states, m.Subject()[strings.LastIndexByte(m.Subject(), '.')+1:])
	}
	return strings.Join(states, " ")
}
