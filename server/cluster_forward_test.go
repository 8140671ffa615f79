package server

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/testkit"
)

// nodeCaller asks one node over HTTP, as a load balancer would that has just this one left.
type nodeCaller struct {
	base string
	http http.Client
}

// trigger triggers a job under a key, and returns the status and the id of the run; 0 if no reply came.
func (c *nodeCaller) trigger(t *testing.T, name, key string) (status int, run string) {
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, c.base+"/api/v1/jobs/"+name+"/trigger", strings.NewReader("{}"))
	if err != nil {
		return 0, ""
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Idempotency-Key", key)
	req.Header.Set("Carillon-By", key)
	resp, err := c.http.Do(req)
	if err != nil {
		return 0, ""
	}
	defer resp.Body.Close()
	var got client.RunReply
	if err := json.NewDecoder(resp.Body).Decode(&got); err != nil {
		return 0, ""
	}
	return resp.StatusCode, got.Run.RunID
}

// TestForwardThroughTakeover triggers a job through every node of three while the leader is killed. What is refused, or
// gets no reply, is asked again under the same key, at any node: each key has one run, and one entry of the audit log.
func TestForwardThroughTakeover(t *testing.T) {
	t.Parallel()
	p := newTroupe(t)
	nodes := []*Server{p.start("a", t.TempDir()), p.start("b", t.TempDir()), p.start("c", t.TempDir())}
	_, _, err := p.client(false).Put(t.Context(), client.Job{
		Name: "x", Schedule: "@yearly", Target: client.Target{Kind: "nats", Subject: "out.x"}, OverlapPolicy: "allow",
	})
	if err != nil {
		t.Fatal(err)
	}
	const callers, keys = 6, 40
	killed, half := make(chan struct{}), make(chan struct{}, callers)
	runs, unlike := make(map[string]string), 0
	ctx, cancel := context.WithTimeout(t.Context(), testkit.Patience)
	defer cancel()
	var mu sync.Mutex
	var all sync.WaitGroup
	for i := range callers {
		// Those of the node that is killed go to another one after that, as their connections break.
		at := nodeCaller{base: nodes[i%len(nodes)].Ready().HTTP, http: http.Client{Timeout: 15 * time.Second}}
		all.Go(func() {
			for k := range keys {
				if k == keys/2 {
					half <- struct{}{}
					<-killed
				}
				key := fmt.Sprintf("k%d-%d", i, k)
				done := testkit.Poll(ctx, func() bool {
					status, run := at.trigger(t, "x", key)
					switch status {
					case http.StatusOK:
						mu.Lock()
						runs[key] = run
						mu.Unlock()
					case 0, http.StatusServiceUnavailable:
						at.base = nodes[1+k%2].Ready().HTTP
					default:
						mu.Lock()
						unlike++
						mu.Unlock()
					}
					return status == http.StatusOK
				})
				if !done {
					t.Errorf("%s got no run", key)
				}
			}
		})
	}
	for range callers {
		<-half
	}
	close(killed)
	p.kill(nodes[0])
	all.Wait()
	if unlike > 0 {
		t.Errorf("%d replies have another status than 200 and 503", unlike)
	}
	checkKeys(t, p, nodes[2], runs, callers*keys)
}

// checkKeys checks the runs of keys: as many as keys, each once in the audit log, with its caller and the way it came.
func checkKeys(t *testing.T, p *troupe, at *Server, runs map[string]string, want int) {
	t.Helper()
	seen := make(map[string]bool)
	for _, run := range runs {
		seen[run] = true
	}
	page, err := p.client(false).ListRuns(t.Context(), client.RunListRequest{Job: "x", Limit: 1000})
	if err != nil || len(page.Runs) != want || len(seen) != want {
		t.Errorf("%d runs, and %d of keys; want %d; %v", len(page.Runs), len(seen), want, err)
	}
	audit := testkit.Get(t, at.Ready().HTTP+"/api/v1/audit?name=x&action=trigger&limit=1000").Body
	if n := strings.Count(audit, `"from":"http"`); n != want || strings.Count(audit, `"by":"k1-3"`) != 1 {
		t.Errorf("%d entries of the audit log came over HTTP, want %d", n, want)
	}
}
