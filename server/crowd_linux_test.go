package server_test

import (
	"context"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/server"
	"github.com/carillon-io/carillon/testkit"
)

// httpConnections is the size of the crowd. Large ones are for runs by hand: 100000 take a minute and a half.
var httpConnections = flag.Int("http.connections", 300, "connections that TestCrowd opens")

const (
	crowdPart    = 15_000          // connections of one process, which may have 20,000 files open
	crowdTimeMax = 2 * time.Minute // for all of it
	crowdSeats   = 64              // of the server, unless the crowd is large
	crowdJobs    = 20              // that tick each second meanwhile
	crowdTries   = 1000            // of a new connection in a large crowd
	crowdLine    = 256 + 1         // connections that wait, and the one that is read ahead
)

// TestCrowd opens far more HTTP connections than may be open, and sends nothing on them. Jobs go on in time, a
// connection from before is answered all the while, and so are new ones with a request. In a large crowd these may be
// dropped, because they are of the address with the crowd, and the caller connects again. The log and the store can open
// files, and once the crowd is gone everything is as before.
func TestCrowd(t *testing.T) {
	opts := options(filepath.Join(t.TempDir(), "data"))
	opts.HTTPConnections = crowdSeats
	if *httpConnections > crowdPart {
		opts.HTTPConnections = 0 // the default
	}
	s := startWith(t, opts)
	addr := strings.TrimPrefix(s.Ready().HTTP, "http://")
	late := tickEachSecond(t, s)
	known, fresh := newAsker(t, addr, true), newAsker(t, addr, false)
	known.ask()
	testkit.Until(t, "the jobs have fired", func() bool { return len(late.values()) >= crowdJobs })
	calm := late.String()
	late.forget()
	before := use(t)

	guests := openCrowd(t, addr, *httpConnections)
	asking, cancel := context.WithTimeout(t.Context(), crowdTimeMax)
	defer cancel()
	var askers sync.WaitGroup
	for _, a := range []*asker{known, fresh} {
		askers.Go(func() { a.until(asking) })
	}
	var peak usage
	askers.Go(func() { peak.follow(asking, t) })
	guests.waitDialed(t)
	enough := len(late.values()) + crowdJobs
	testkit.Until(t, "the jobs have fired", func() bool { return len(late.values()) >= enough })
	result := guests.leave(t)
	cancel()
	askers.Wait()

	const slack = 8
	testkit.Until(t, "the connections' files are closed", func() bool { return use(t).files <= before.files+slack })
	if most := opts.HTTPConnections; most > 0 && peak.files > before.files+most+crowdLine+slack {
		t.Errorf("%d files were open beside %d connections", peak.files-most, most)
	}
	fresh.ask()
	runtime.GC()
	t.Logf("%d connections: %d made, %d refused, %d ended by the server", *httpConnections, result.Made, result.Refused, result.Ended)
	t.Logf("before: %+v, most: %+v, after: %+v", before, peak, use(t))
	t.Logf("jobs before: %s; meanwhile: %s; known connection: %s; new ones: %s", calm, late, &known.took, &fresh.took)
	if known.failed+fresh.failed > 0 {
		t.Errorf("%d requests on the known connection failed, and %d on new ones", known.failed, fresh.failed)
	}
	if worst := late.at(1); len(late.values()) == 0 || worst > 5*time.Second {
		t.Errorf("jobs were late: %s", late)
	}
	if made := result.Made + result.Refused; made != *httpConnections {
		t.Errorf("%d connections were tried, want %d", made, *httpConnections)
	}
}

// spans collects durations.
type spans struct {
	mu  sync.Mutex
	all []time.Duration
}

func (s *spans) add(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all = append(s.all, d)
}

func (s *spans) values() []time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Sorted(slices.Values(s.all))
}

func (s *spans) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all = nil
}

// at returns a quantile; 1 is the largest.
func (s *spans) at(q float64) time.Duration {
	all := s.values()
	if len(all) == 0 {
		return 0
	}
	return all[min(len(all)-1, int(q*float64(len(all))))]
}

func (s *spans) String() string {
	return fmt.Sprintf("%d, p50 %s, p99 %s, most %s", len(s.values()), s.at(0.5), s.at(0.99), s.at(1))
}

// tickEachSecond puts jobs and follows how late their runs come.
func tickEachSecond(t *testing.T, s *server.Server) *spans {
	t.Helper()
	nc, c := connect(t, s)
	late := new(spans)
	_, err := nc.Subscribe("crowd", func(m *nats.Msg) {
		if at, err := time.Parse(time.RFC3339Nano, m.Header.Get("Carillon-Scheduled-At")); err == nil {
			late.add(time.Since(at))
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	for i := range crowdJobs {
		job := client.Job{Name: fmt.Sprint("crowd/", i), Schedule: "@every 1s", Target: client.Target{Kind: "nats", Subject: "crowd"}}
		if _, _, err := c.Put(t.Context(), job); err != nil {
			t.Fatal(err)
		}
	}
	return late
}

// asker asks for /healthz, on one connection or on a new one each time.
type asker struct {
	http   http.Client
	url    string
	tries  int // for each request
	took   spans
	failed int
}

func newAsker(t *testing.T, addr string, keep bool) *asker {
	transport := &http.Transport{DisableKeepAlives: !keep, MaxConnsPerHost: 1}
	t.Cleanup(transport.CloseIdleConnections)
	tries := 1
	if !keep && *httpConnections > crowdPart {
		tries = crowdTries
	}
	return &asker{http: http.Client{Transport: transport, Timeout: 20 * time.Second}, url: "http://" + addr + "/healthz", tries: tries}
}

func (a *asker) ask() {
	begun := time.Now()
	res, err := a.http.Get(a.url)
	for try := 1; err != nil && try < a.tries; try++ {
		res, err = a.http.Get(a.url)
	}
	if err == nil {
		_, err = io.Copy(io.Discard, res.Body)
		res.Body.Close()
	}
	if err != nil || res.StatusCode != http.StatusOK {
		a.failed++
		return
	}
	a.took.add(time.Since(begun))
}

// until asks every now and then until ctx ends.
func (a *asker) until(ctx context.Context) {
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for a.ask(); ctx.Err() == nil; a.ask() {
		select {
		case <-tick.C:
		case <-ctx.Done():
		}
	}
}

// usage is what the process has of the machine.
type usage struct{ files, residentMiB int }

func use(t *testing.T) usage {
	t.Helper()
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		t.Error(err)
		return usage{}
	}
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Error(err)
	}
	pages, err := strconv.Atoi(strings.Fields(string(text))[1])
	if err != nil {
		t.Error(err)
	}
	return usage{files: len(entries), residentMiB: pages * os.Getpagesize() >> 20}
}

// follow keeps the most of each until ctx ends.
func (u *usage) follow(ctx context.Context, t *testing.T) {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for ctx.Err() == nil {
		now := use(t)
		u.files, u.residentMiB = max(u.files, now.files), max(u.residentMiB, now.residentMiB)
		select {
		case <-tick.C:
		case <-ctx.Done():
		}
	}
}
