package main

import (
	"encoding/json"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-io/carillon/bus"
	"github.com/carillon-io/carillon/client"
)

// openBareBus starts the NATS server that the bare program has.
func openBareBus(t *testing.T) *bus.Bus {
	t.Helper()
	b, err := bus.Open(t.Context(), bus.Options{
		Listen: "127.0.0.1:0", StoreDir: t.TempDir(), ConnectionsMax: 16, Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	return b
}

// The bare program is asked with the bytes that Carillon is asked with.
func TestBareRequestIsCarillons(t *testing.T) {
	b := openBareBus(t)
	asked := make(chan string, 10)
	if _, err := b.API().Subscribe("carillon.v1.default.jobs.put", func(m *nats.Msg) {
		asked <- string(m.Data)
		_ = m.Respond([]byte("{}")) // the client may not like it
	}); err != nil {
		t.Fatal(err)
	}
	if err := b.API().Flush(); err != nil {
		t.Fatal(err)
	}
	c, err := client.Connect(b.URL(), client.Options{NoRetry: true})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	j := job{farNumber + 12, time.UnixMilli(1_795_000_000_123)}
	_ = carillonClient{c, "nats"}.put(t.Context(), j)
	if got := string(appendBareJob(nil, j)); got != <-asked {
		t.Errorf("the bare program is asked with %s", got)
	}
}

// The messages of the bare program have the headers of Carillon's, and none comes before its time.
func TestBareTick(t *testing.T) {
	b := openBareBus(t)
	came := make(chan *nats.Msg, 10)
	if _, err := b.API().Subscribe(fireSubject, func(m *nats.Msg) { came <- m }); err != nil {
		t.Fatal(err)
	}
	if err := b.API().Flush(); err != nil {
		t.Fatal(err)
	}
	conn, err := b.Connect("bare dispatch")
	if err != nil {
		t.Fatal(err)
	}
	tick := newBareTick(conn)
	first := time.Now().Add(50 * time.Millisecond).Truncate(time.Millisecond)
	var jobs []bareJob
	for _, n := range []int{2, 0, 1} { // out of order
		j := job{n, first.Add(time.Duration(n) * 20 * time.Millisecond)}
		jobs = append(jobs, bareJob{n, j.due.UnixMilli(), j.payload()})
	}
	tick.hold(jobs)
	go tick.run()
	defer tick.stop()
	names := []string{
		nats.MsgIdHdr, "Carillon-Run-Id", "Carillon-Job", "Carillon-Tenant", "Carillon-Scheduled-At", "Carillon-Attempt", "Carillon-Fence",
	}
	for n := range jobs {
		m := <-came
		due := first.Add(time.Duration(n) * 20 * time.Millisecond)
		if now := time.Now(); now.Before(due) {
			t.Errorf("job %d came %s early", n, due.Sub(now))
		}
		if at := m.Header.Get("Carillon-Scheduled-At"); m.Header.Get("Carillon-Job") != strconv.Itoa(n) || at != client.At(due).String() {
			t.Errorf("message %d is of job %q at %q", n, m.Header.Get("Carillon-Job"), at)
		}
		if string(m.Data) != string(job{number: n}.payload()) {
			t.Errorf("the payload of job %d is %s", n, m.Data)
		}
		for _, name := range names {
			if len(m.Header[name]) != 1 || m.Header[name][0] == "" {
				t.Errorf("header %s of job %d is %q", name, n, m.Header[name])
			}
		}
		if len(m.Header) != len(names) {
			t.Errorf("job %d has headers %v", n, m.Header)
		}
	}
}

// What the bare program has answered is in its file, whoever sent it; what is no JSON is refused, and is not there.
func TestBareServer(t *testing.T) {
	s, err := startBare(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer s.stop()
	c, err := s.dial(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer c.close()
	if err := c.put(t.Context(), job{1, time.Now()}); err != nil {
		t.Fatal(err)
	}
	const many = 3*bareBatch + 5
	if err := c.putAll(t.Context(), farJobs(0, many)); err != nil {
		t.Fatal(err)
	}
	err = bareAsk(t.Context(), c.(*bareClient).nc, barePutSubject, []byte(`{"name":`))
	if err == nil || !strings.Contains(err.Error(), "no JSON") {
		t.Errorf("half a request: %v", err)
	}
	if has, err := s.count(t.Context()); err != nil || has != many+1 {
		t.Errorf("it has %d jobs, %v; want %d", has, err, many+1)
	}
	one := appendBareJob(nil, job{number: 7, due: time.Now()})
	if !json.Valid(one) || slices.Contains(one, '\n') {
		t.Errorf("a request is %s", one)
	}
}
