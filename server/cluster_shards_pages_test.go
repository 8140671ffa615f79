package server

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/testkit"
)

// pagedTroupe is a cluster of three nodes with several shards, each of which leads some, and its many jobs.
type pagedTroupe struct {
	*troupe
	nodes []*Server
	stay  []string // names that are there all the time, in order
}

func newPagedTroupe(t *testing.T, jobs int) *pagedTroupe {
	t.Helper()
	p := &pagedTroupe{troupe: newTroupe(t)}
	for _, name := range []string{"a", "b", "c"} {
		p.nodes = append(p.nodes, p.startShards(name, t.TempDir()))
	}
	for _, s := range p.nodes[1:] {
		p.levelInEach(p.nodes[0], s)
	}
	p.handOver(1, "b")
	p.handOver(3, "c")
	for i := range jobs {
		p.stay = append(p.stay, fmt.Sprintf("stay/%05d", i))
	}
	totals, err := p.client(false).PutAll(t.Context(), func(yield func(client.Job) bool) {
		for _, name := range p.stay {
			if !yield(client.Job{Name: name, Schedule: "@yearly", Target: client.Target{Kind: "nats", Subject: "out"}}) {
				return
			}
		}
	}, func(client.PutResult) {})
	if err != nil || totals.Accepted != jobs {
		t.Fatalf("%+v, %v", totals, err)
	}
	return p
}

// churn lets jobs between the others come and go, through all nodes, until the returned function is called, which returns how
// many came.
func (p *pagedTroupe) churn() (stop func() int) {
	ctx, cancel := context.WithCancel(p.t.Context())
	came := make(chan int, 1)
	name := func(i int) string { return fmt.Sprintf("%s-%d", p.stay[i*7919%len(p.stay)], i) }
	go func() {
		n := 0
		for i := 0; ctx.Err() == nil; i++ {
			body := `{"schedule":"@yearly","target":{"kind":"nats","subject":"out"}}`
			r, err := http.NewRequest(http.MethodPut, p.nodes[i%3].Ready().HTTP+"/api/v1/jobs/"+url.PathEscape(name(i)), strings.NewReader(body))
			if err != nil {
				break
			}
			r.Header.Set("Content-Type", "application/json")
			if reply, err := http.DefaultClient.Do(r); err == nil {
				_ = reply.Body.Close()
				if reply.StatusCode == http.StatusCreated {
					n++
				}
			}
			if i >= 50 {
				_, _ = p.nc.Request("carillon.v1.default.jobs.delete", []byte(`{"name":"`+name(i-50)+`"}`), time.Second)
			}
		}
		came <- n
	}()
	return func() int { cancel(); return <-came }
}

// overNATS returns a page of jobs that some node answers with over NATS.
func (p *pagedTroupe) overNATS(_, limit int, cursor string) (page client.JobPage) {
	p.t.Helper()
	body, err := json.Marshal(client.ListRequest{Limit: limit, Cursor: cursor})
	if err != nil {
		p.t.Fatal(err)
	}
	testkit.Retry(p.t, "a page over NATS", func(ctx context.Context) error { // on a busy machine a shard may be without a leader for a moment
		m, err := p.nc.RequestWithContext(ctx, "carillon.v1.default.jobs.list", body)
		if err != nil {
			return err
		}
		if code := m.Header.Get("Nats-Service-Error-Code"); code != "" {
			return fmt.Errorf("%s: %.300s", code, m.Data)
		}
		return json.Unmarshal(m.Data, &page)
	})
	return page
}

// overHTTP returns a page of jobs over HTTP, of one node after the other.
func (p *pagedTroupe) overHTTP(n, limit int, cursor string) (page client.JobPage) {
	p.t.Helper()
	query := url.Values{"limit": {strconv.Itoa(limit)}}
	if cursor != "" {
		query.Set("cursor", cursor)
	}
	testkit.Retry(p.t, "a page over HTTP", func(context.Context) error {
		code, text := fetch(p.t, p.nodes[n%3].Ready().HTTP+"/api/v1/jobs?"+query.Encode())
		if code != http.StatusOK {
			return fmt.Errorf("%d: %.300s", code, text)
		}
		return json.Unmarshal([]byte(text), &page)
	})
	return page
}

// TestNamesInPagesOfAllShards: ten thousand jobs are listed in pages through alternating nodes, over NATS and over HTTP, while
// others between them come and go. Each that is there all the time is listed once, in the order of names.
func TestNamesInPagesOfAllShards(t *testing.T) {
	if testing.Short() {
		t.Skip("ten thousand jobs take seconds")
	}
	t.Parallel()
	p := newPagedTroupe(t, 10_000)
	stop := p.churn()
	for way, list := range map[string]func(n, limit int, cursor string) client.JobPage{"NATS": p.overNATS, "HTTP": p.overHTTP} {
		for _, limit := range []int{1000, 337} {
			var names []string
			for n, cursor := 0, ""; n == 0 || cursor != ""; n++ {
				page := list(n, limit, cursor)
				for i := range page.Jobs {
					names = append(names, page.Jobs[i].Name)
				}
				cursor = page.NextCursor
			}
			if !slices.IsSorted(names) || len(slices.Compact(slices.Clone(names))) != len(names) {
				t.Errorf("%s, limit %d: the names are not in order, or not unique", way, limit)
			}
			kept := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return len(name) > len(p.stay[0]) })
			if !slices.Equal(kept, p.stay) {
				t.Errorf("%s, limit %d: %d of %d names", way, limit, len(kept), len(p.stay))
			}
			t.Logf("%s, limit %d: %d names, %d of them of jobs that came", way, limit, len(names), len(names)-len(kept))
		}
	}
	if came := stop(); came < 50 {
		t.Errorf("%d jobs came meanwhile; want 50 or more", came)
	}
}
