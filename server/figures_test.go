package server_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/testkit"
)

// figuresOf reads the parts of a status that describe lateness and waiting, as a program does that only knows
// the names in JSON.
func figuresOf(t *testing.T, nc *nats.Conn) (late distribution, waited map[string]distribution) {
	t.Helper()
	msg, err := nc.Request("carillon.v1.default.status", nil, 5*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	var st struct {
		Lateness distribution
		Waited   map[string]distribution
	}
	if err := json.Unmarshal(msg.Data, &st); err != nil {
		t.Fatalf("%s: %v", msg.Data, err)
	}
	return st.Lateness, st.Waited
}

type distribution struct {
	Count uint64
	P99   float64 `json:"p99_ms"`
	Max   float64 `json:"max_ms"`
}

// TestWaitingIsNotLateness: runs that wait for their turn, for the pace of catching up or for another attempt
// do not count as late if the server launches each of them as soon as it may.
func TestWaitingIsNotLateness(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	opts := options(dir)
	opts.CatchupRate = 5
	s := startWith(t, opts)
	_, c := connect(t, s)
	put := func(j client.Job) {
		t.Helper()
		if _, _, err := c.Put(t.Context(), j); err != nil {
			t.Fatal(err)
		}
	}
	// What is due more than a second before the next start is missed, and owed.
	put(client.Job{
		Name: "missed", Schedule: "@every 200ms", Target: client.Target{Kind: "nats", Subject: "out"},
		MissedRunPolicy: "backfill", OverlapPolicy: "allow",
	})
	if err := s.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	<-time.After(2500 * time.Millisecond) // the outage

	s = startWith(t, opts)
	nc, c := connect(t, s)
	if _, err := nc.Subscribe("slow", func(m *nats.Msg) {
		time.AfterFunc(150*time.Millisecond, func() { _ = m.Respond([]byte("ok")) })
	}); err != nil {
		t.Fatal(err)
	}
	put = func(j client.Job) {
		t.Helper()
		if _, _, err := c.Put(t.Context(), j); err != nil {
			t.Fatal(err)
		}
	}
	put(client.Job{Name: "turns", Schedule: "@every 50ms", MaxRuns: 20, OverlapPolicy: "buffer_all", Target: client.Target{Kind: "request", Subject: "slow"}})
	put(client.Job{
		Name: "again", Schedule: "@every 100ms", MaxRuns: 1, Target: client.Target{Kind: "request", Subject: "nobody.there"},
		Retry: client.Retry{MaxAttempts: 3, InitialInterval: client.Duration(700 * time.Millisecond)},
	})
	var late distribution
	var waited map[string]distribution
	testkit.Until(t, "each kind of wait is over", func() bool {
		late, waited = figuresOf(t, nc)
		return waited["overlap"].Count >= 15 && waited["retry"].Count >= 2 && waited["catch_up"].Count >= 3
	})
	for reason, least := range map[string]float64{"overlap": 1000, "catch_up": 1500, "retry": 500} {
		if waited[reason].Max < least || waited[reason].P99 < late.P99*3 {
			t.Errorf("waited for %s: %+v, want more than %g ms; lateness is %+v", reason, waited[reason], least, late)
		}
	}
	if late.P99 > 250 { // as the alert has it
		t.Errorf("lateness is %+v", late)
	}
	allAnswered(t, c)
	page, metrics := readPage(t, s.Ready().HTTP+"/"), readPage(t, s.Ready().HTTP+"/metrics")
	for _, reason := range []string{"overlap", "catch_up", "retry"} {
		if !strings.Contains(page, fmt.Sprintf(`data-reason="%s"`, reason)) {
			t.Errorf("the page says nothing of %s", reason)
		}
		if !strings.Contains(metrics, fmt.Sprintf(`carillon_waited_seconds_count{reason="%s",shard="0"} `, reason)) {
			t.Errorf("the metrics say nothing of %s", reason)
		}
	}
}

// TestWithinTheLeadIsNoBacklog: a server that decides 10 s ahead has launches scheduled, and no backlog.
func TestWithinTheLeadIsNoBacklog(t *testing.T) {
	opts := options(filepath.Join(t.TempDir(), "data"))
	opts.Lead = 10 * time.Second
	s := startWith(t, opts)
	_, c := connect(t, s)
	at := time.Now().Add(9 * time.Second).UTC().Format(time.RFC3339Nano)
	for i := range 7 {
		if _, _, err := c.Put(t.Context(), client.Job{Name: fmt.Sprint("soon", i), Schedule: "@at " + at, Target: client.Target{Kind: "nats", Subject: "out"}}); err != nil {
			t.Fatal(err)
		}
	}
	testkit.Until(t, "they are decided", func() bool {
		st, err := c.Status(t.Context())
		return err == nil && st.Scheduled == 7 && st.Waiting == 7 && st.Backlog == 0 && st.Retrying == 0
	})
	page, metrics := readPage(t, s.Ready().HTTP+"/"), readPage(t, s.Ready().HTTP+"/metrics")
	for _, part := range []string{`id="figure-backlog">0<`, `id="figure-scheduled">7</span> scheduled within the lead`} {
		if !strings.Contains(page, part) {
			t.Errorf("the page has no %s", part)
		}
	}
	for _, line := range []string{`carillon_launches_scheduled{shard="0"} 7`, `carillon_launches_backlog{shard="0"} 0`, `carillon_launches_waiting{shard="0"} 7`} {
		if !strings.Contains(metrics, line+"\n") {
			t.Errorf("the metrics have no %s", line)
		}
	}
}

// TestPlacesAreCountedOnce: a run that waits for a place at its target is one of the backlog, wherever the figures are.
func TestPlacesAreCountedOnce(t *testing.T) {
	s := startWith(t, options(filepath.Join(t.TempDir(), "data")))
	nc, c := connect(t, s)
	seen := make(chan struct{}) // closed: answer
	if _, err := nc.Subscribe("silent", func(m *nats.Msg) {
		<-seen
		_ = m.Respond(nil)
	}); err != nil {
		t.Fatal(err)
	}
	at := client.At(time.Now().Add(300 * time.Millisecond)).String()
	for i := range 5 {
		if _, _, err := c.Put(t.Context(), client.Job{Name: fmt.Sprint("herd", i), Schedule: "@at " + at, Target: client.Target{Kind: "request", Subject: "silent", MaxInFlight: 1}}); err != nil {
			t.Fatal(err)
		}
	}
	testkit.Until(t, "all but one wait for the place", func() bool {
		st, err := c.Status(t.Context())
		return err == nil && st.InFlight == 1 && st.Queued == 4 && st.Backlog == 4 && st.Waiting == 4
	})
	page, metrics := readPage(t, s.Ready().HTTP+"/"), readPage(t, s.Ready().HTTP+"/metrics")
	for _, part := range []string{`id="figure-backlog">4<`, "4 of the backlog wait for a place at their target"} {
		if !strings.Contains(page, part) {
			t.Errorf("the page has no %s", part)
		}
	}
	for _, line := range []string{`carillon_launches_backlog{shard="0"} 4`, `carillon_launches_queued{shard="0"} 4`} {
		if !strings.Contains(metrics, line+"\n") {
			t.Errorf("the metrics have no %s", line)
		}
	}
	close(seen)
	allAnswered(t, c)
}

// allAnswered waits until no attempt is in flight: at its end the server would wait for the answer until the attempt times out.
func allAnswered(t *testing.T, c *client.Client) {
	t.Helper()
	testkit.Until(t, "all attempts are answered", func() bool {
		st, err := c.Status(t.Context())
		return err == nil && st.InFlight == 0 && st.Queued == 0
	})
}
