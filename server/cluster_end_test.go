package server

import (
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/testkit"
)

// TestEndDoesNotWaitForTargets: a leader that ends while a target does not answer hands over, and ends soon, without an error. The
// next leader launches the attempt again.
func TestEndDoesNotWaitForTargets(t *testing.T) {
	t.Parallel()
	p := newTroupe(t)
	var arrived atomic.Int32
	over := make(chan struct{})
	target := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		arrived.Add(1)
		select {
		case <-over:
		case <-r.Context().Done():
		}
	}))
	t.Cleanup(target.Close)
	t.Cleanup(func() { close(over) })
	a, b := p.start("a", t.TempDir()), p.start("b", t.TempDir())
	_, _, err := p.client(false).Put(t.Context(), client.Job{
		Name: "hangs", Schedule: "@at " + time.Now().Add(time.Second).UTC().Format(time.RFC3339), AttemptTimeout: client.Duration(10 * time.Minute),
		Target: client.Target{Kind: "http", URL: target.URL},
	})
	if err != nil {
		t.Fatal(err)
	}
	testkit.Until(t, "the target has the run", func() bool { return arrived.Load() == 1 })
	p.level(a, b)
	ended := make(chan error, 1)
	go func() { ended <- a.Close(t.Context()) }()
	testkit.Until(t, "the next leader launches it again", func() bool { return arrived.Load() == 2 })
	select {
	case err := <-ended:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(testkit.Patience):
		t.Error("the node waits for the target")
	}
}
