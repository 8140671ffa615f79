//go:build unix

package server

import (
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/carillon-io/carillon/testkit"
)

// underWayTime bounds what is under way to a node that stops: until that is silent, and a bit more for a busy machine. It was nine
// seconds.
const underWayTime = 4 * time.Second

// TestHungNodeAndReads: lists and other reads are under way, over HTTP at all other nodes, when one of four nodes stops. None of
// them waits for much longer than until the node is silent, and none is refused because those that wait hold what others need.
func TestHungNodeAndReads(t *testing.T) {
	if testing.Short() {
		t.Skip("four processes take seconds")
	}
	t.Parallel()
	p := &hungTroupe{newTroupe(t), make(map[string]*nodeProcess), make(map[string]string)}
	for _, name := range []string{"a", "b", "c", "d"} {
		p.nodes[name], _ = p.startProcessOf(name, t.TempDir(), troupeShards)
		p.urls[name] = p.nodes[name].line("http ")
	}
	p.settle()
	hung, _, _ := p.cast()
	healthy := ""
	for shard := range uint32(troupeShards) {
		if st, err := p.client(false).Status(t.Context()); err == nil && st.Shards[shard].Leader != hung {
			healthy = nameIn(shard)
		}
	}
	var over atomic.Bool
	var all sync.WaitGroup
	var asked atomic.Int32
	ask := func(url, path string, standby bool) {
		for !over.Load() {
			began := time.Now()
			status, text := p.read(url+path, standby)
			if took := time.Since(began); took > underWayTime || status == http.StatusTooManyRequests || status == 0 {
				t.Errorf("%s, standby %v: %d after %s: %.300s", path, standby, status, took, text)
			}
			asked.Add(1)
		}
	}
	for name, url := range p.urls {
		if name == hung {
			continue
		}
		for _, path := range []string{"jobs?limit=20", "jobs?partial=true", "runs?status=dead&partial=true", "audit?partial=true", "calendars", "jobs/" + healthy + "/runs"} {
			all.Go(func() { ask(url, "/api/v1/"+path, false) })
		}
		all.Go(func() { ask(url, "/api/v1/jobs?partial=true", true) })
	}
	testkit.Until(t, "reads are under way", func() bool { return asked.Load() > 100 })
	p.nodes[hung].stop()
	testkit.Until(t, "the node was silent, and its shard has another leader", func() bool {
		text := ""
		for name, url := range p.urls {
			if name != hung {
				_, text = p.read(url+"/api/v1/jobs", false)
				break
			}
		}
		return strings.HasPrefix(text, `{"jobs":`)
	})
	over.Store(true)
	all.Wait()
	p.nodes[hung].start()
}

// read reads over HTTP; status 0 is no answer.
func (p *hungTroupe) read(url string, standby bool) (status int, text string) {
	request, err := http.NewRequestWithContext(p.t.Context(), http.MethodGet, url, nil)
	if err != nil {
		p.t.Fatal(err)
	}
	if standby {
		request.Header.Set("Carillon-Standby", "true")
	}
	reply, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, err.Error()
	}
	defer reply.Body.Close()
	body, err := io.ReadAll(reply.Body)
	if err != nil {
		return 0, err.Error()
	}
	return reply.StatusCode, string(body)
}
