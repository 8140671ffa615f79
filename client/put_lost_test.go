package client_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/carillon-io/carillon/client"
)

// TestPutAllLosesTheAnswer: a server registers the jobs, and its answer is lost. While the repetitions are refused because the shard
// has no leader, no result says that nothing has changed; once one is carried out, the jobs are accepted.
func TestPutAllLosesTheAnswer(t *testing.T) {
	for name, refusals := range map[string]int32{"refused to the end": 1 << 30, "refused twice": 2} {
		t.Run(name, func(t *testing.T) {
			proxy := lossy(t, refusals)
			c := connect(t, proxy, client.Options{Tenant: "lossy", Timeout: 400 * time.Millisecond})
			job := client.Job{Name: strings.ReplaceAll(name, " ", "-"), Schedule: "@yearly", Target: client.Target{Kind: "nats", Subject: "out"}}
			var got *client.Error
			totals, err := c.PutAll(t.Context(), slices.Values([]client.Job{job}), func(r client.PutResult) { got = r.Error })
			if err != nil || totals.Accepted+totals.Rejected != 1 {
				t.Fatalf("%+v, %v", totals, err)
			}
			if _, err := connect(t, httpURL, client.Options{Tenant: "lossy"}).Get(t.Context(), job.Name); err != nil {
				t.Errorf("the first try did not register the job: %v", err)
			}
			switch {
			case refusals == 2 && got != nil:
				t.Errorf("refused: %v", got)
			case refusals > 2 && (got == nil || !client.IsUnavailable(got) || got.Cause == nil || !strings.HasPrefix(got.Message, "whether the request took effect is unknown")):
				t.Errorf("refused: %v", got)
			}
		})
	}
}

// lossy returns the URL of a proxy before the server. The first bulk registration is carried out, and its answer lost; so many
// further ones are refused, each job by itself, and all other requests are passed on.
func lossy(t *testing.T, refusals int32) string {
	t.Helper()
	to, err := url.Parse(httpURL)
	if err != nil {
		t.Fatal(err)
	}
	pass := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(to) }}
	var asked atomic.Int32
	proxy := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, req *http.Request) {
		n := int32(0)
		if req.Method == http.MethodPost {
			n = asked.Add(1)
		}
		switch {
		case n == 1:
			pass.ServeHTTP(httptest.NewRecorder(), req)
			panic(http.ErrAbortHandler)
		case n > 1 && n <= 1+refusals:
			refuseJobs(t, rw, req)
		default:
			pass.ServeHTTP(rw, req)
		}
	}))
	t.Cleanup(proxy.Close)
	return proxy.URL
}

// refuseJobs answers a bulk registration as a node does that finds no leader for the shard of the jobs.
func refuseJobs(t *testing.T, rw http.ResponseWriter, req *http.Request) {
	text, err := io.ReadAll(req.Body)
	var request client.PutManyRequest
	if err == nil {
		err = json.Unmarshal(text, &request)
	}
	if err != nil {
		t.Error(err)
	}
	reply := client.PutManyReply{Rejected: len(request.Jobs)}
	for _, j := range request.Jobs {
		reply.Results = append(reply.Results, client.PutResult{Name: j.Name, Error: &client.Error{
			Code: client.CodeUnavailable, Message: "shard 2 has no leader at the moment; nothing has changed, ask again later",
		}})
	}
	_ = json.NewEncoder(rw).Encode(reply)
}
