package server_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/client/clienttest"
	"github.com/carillon-io/carillon/server"
	"github.com/carillon-io/carillon/testkit"
)

// hook is a webhook that answers once its channel is closed, and counts.
type hook struct {
	url     string
	let     chan struct{} // closed: answer
	begun   chan string   // jobs, as their requests come
	going   atomic.Int64
	most    atomic.Int64
	mu      sync.Mutex
	arrived map[string]int
}

func newHook(t *testing.T) *hook {
	h := &hook{let: make(chan struct{}), begun: make(chan string, 1<<16), arrived: make(map[string]int)}
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		h.most.Store(max(h.most.Load(), h.going.Add(1)))
		defer h.going.Add(-1)
		_, _ = io.Copy(io.Discard, r.Body)
		h.begun <- r.Header.Get("Carillon-Job")
		select {
		case <-h.let:
		case <-r.Context().Done():
			return
		}
		h.mu.Lock()
		defer h.mu.Unlock()
		h.arrived[r.Header.Get("Carillon-Run-Id")]++
	}))
	t.Cleanup(s.Close)
	h.url = s.URL
	return h
}

// putHerd registers n jobs that are due at one instant, and returns it.
func putHerd(t *testing.T, c *client.Client, target client.Target, n int, in time.Duration) time.Time {
	t.Helper()
	due := time.Now().Add(in).Truncate(time.Millisecond)
	got, err := c.PutAll(t.Context(), func(yield func(client.Job) bool) {
		for i := range n {
			j := client.Job{
				Name: fmt.Sprint("herd/", i), Schedule: "@at " + client.At(due).String(), Target: target,
				AttemptTimeout: client.Duration(time.Minute), Retry: client.Retry{MaxAttempts: 1},
			}
			if !yield(j) {
				return
			}
		}
	}, nil)
	if err != nil || got.Accepted != n {
		t.Fatalf("%d of %d jobs are registered: %v", got.Accepted, n, err)
	}
	return due
}

// TestHerdAtOneTarget: more runs come due at one instant than any queue of a target ever held, each with one attempt; a tenth
// of them under the race detector. While the target hangs, they wait, and runs of another tenant to the same host go by; one
// that is deleted or paused meanwhile never leaves. Then all of them are delivered, once, and none is dead.
func TestHerdAtOneTarget(t *testing.T) {
	herd := 17_000
	if testkit.Brief() {
		herd = 1700
	}
	runs := uint64(herd - 2 + 1)
	s := start(t, filepath.Join(t.TempDir(), "data"))
	nc, c := connect(t, s)
	other := clienttest.New(t, nc, client.Options{Tenant: "other"})
	slow := newHook(t)
	putHerd(t, c, client.Target{Kind: "http", URL: slow.url + "/slow"}, herd, 3*time.Second)
	going := map[string]bool{}
	for range 64 {
		going[testkit.Receive(t, slow.begun)] = true
	}
	var waits []string
	for i := herd - 1; len(waits) < 2; i-- {
		if name := fmt.Sprint("herd/", i); !going[name] {
			waits = append(waits, name)
		}
	}
	testkit.Until(t, "the herd waits", func() bool {
		st, err := c.Status(t.Context())
		return err == nil && st.Waiting+st.InFlight >= herd
	})
	for _, name := range waits {
		page, err := c.ListRuns(t.Context(), client.RunListRequest{Job: name})
		if err != nil || len(page.Runs) != 1 || page.Runs[0].Status != "pending" || page.Runs[0].LaunchedAt != (client.Time{}) {
			t.Fatalf("runs that wait: %+v, %v", page.Runs, err)
		}
	}
	if _, err := c.Delete(t.Context(), waits[0]); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Pause(t.Context(), waits[1], "enough"); err != nil {
		t.Fatal(err)
	}
	if page, err := c.ListRuns(t.Context(), client.RunListRequest{Job: waits[1]}); err != nil || page.Runs[0].Status != "skipped" || page.Runs[0].Reason != "paused" {
		t.Errorf("paused while it waited: %+v, %v", page.Runs, err)
	}
	if _, _, err := other.Put(t.Context(), client.Job{Name: "other", Schedule: "@yearly", Target: client.Target{Kind: "http", URL: slow.url + "/other"}}); err != nil {
		t.Fatal(err)
	}
	if _, err := other.Trigger(t.Context(), client.TriggerRequest{Name: "other"}); err != nil {
		t.Fatal(err)
	}
	if name := testkit.Receive(t, slow.begun); name != "other" {
		t.Errorf("%s came instead of the run of another tenant", name)
	}
	close(slow.let)
	testkit.Until(t, "all are over", func() bool {
		st, err := c.Status(t.Context())
		return err == nil && st.Succeeded+st.Dead >= runs
	})
	st, err := c.Status(t.Context())
	if err != nil || st.Dead != 0 || st.Failed != 0 || st.Succeeded != runs {
		t.Errorf("%d succeeded, %d are dead, %d attempts failed (%v)", st.Succeeded, st.Dead, st.Failed, err)
	}
	if uint64(len(slow.arrived)) != runs || slow.most.Load() > 65 {
		t.Errorf("%d runs arrived, at most %d at a time", len(slow.arrived), slow.most.Load())
	}
	for run, n := range slow.arrived {
		if n != 1 {
			t.Errorf("run %s arrived %d times", run, n)
		}
	}
}

// TestMaxInFlight: a target has as many attempts at a time as it says, and else as many as the server says.
func TestMaxInFlight(t *testing.T) {
	o := options(filepath.Join(t.TempDir(), "data"))
	o.MaxInFlight = 5
	s, err := server.Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close(t.Context()) })
	_, c := connect(t, s)
	for places, want := range map[uint32]int{0: 5, 3: 3, 20: 20} {
		h := newHook(t)
		putHerd(t, c, client.Target{Kind: "http", URL: h.url, MaxInFlight: places}, 200, 400*time.Millisecond)
		for range want {
			testkit.Receive(t, h.begun)
		}
		close(h.let)
		testkit.Until(t, "all have arrived", func() bool {
			h.mu.Lock()
			defer h.mu.Unlock()
			return len(h.arrived) == 200
		})
		if most := int(h.most.Load()); most != want {
			t.Errorf("max_in_flight %d: %d at a time; want %d", places, most, want)
		}
	}
}
