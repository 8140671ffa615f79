package api

import (
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/carillon-io/carillon/api/apitest"
	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/testkit"
)

// TestStandbyAndALeaderThatHangs: in a cluster with one shard, a standby asks the leader that it hears over HTTP, and no former one that hangs in
// the queue group. What is under way to one that falls silent ends then, and what comes later is refused at once.
func TestStandbyAndALeaderThatHangs(t *testing.T) {
	leader, url := startService(t, apitest.StartEngine(t), Options{Leads: func() bool { return true }, Process: "p2"}, 0)
	heard := &process{led: make([]atomic.Pointer[ledBy], 1), mayHang: make([]atomic.Bool, 1)}
	heard.led[0].Store(&ledBy{process: "p2"})
	standby, err := NewService(apitest.Connect(t, url), apitest.StartEngine(t), Options{
		Logger: apitest.Quiet, Standby: true, Leads: func() bool { return false }, Leaders: heard,
	})
	if err != nil {
		t.Fatal(err)
	}
	apitest.CloseAtEnd(t, standby.Close)
	ask := func(verb, body string) *client.Error {
		x := standby.Executor()
		reply, refusal := x.OverHTTP(t.Context(), VerbNamed(verb), func(string) string { return "" }, func() (Request, error) {
			return Request{Tenant: "default", Asker: job.Actor{From: "http"}, Body: []byte(body)}, nil
		})
		reply.Release()
		return refusal
	}
	hung := apitest.Connect(t, url)
	if _, err := hung.QueueSubscribeSync(leader.opts.forwardRoot(0)+">", queueGroup); err != nil {
		t.Fatal(err)
	}
	got, err := hung.QueueSubscribeSync(leader.opts.leaderRoot(0, "p1")+">", queueGroup)
	if err == nil {
		err = hung.Flush()
	}
	if err != nil {
		t.Fatal(err)
	}
	put := apitest.JobWith("name", `"a"`)
	began := time.Now()
	for range 12 {
		if e := ask("jobs.put", put); e != nil {
			t.Error(e)
		}
	}
	heard.led[0].Store(&ledBy{process: "p1"})
	ends := make(chan *client.Error, 2)
	go func() { ends <- ask("jobs.list", ``) }()
	go func() { ends <- ask("jobs.put", put) }()
	testkit.Until(t, "both are under way", func() bool { n, _, _ := got.Pending(); return n == 2 })
	heard.silent.Store("p1", true)
	heard.led[0].Store(&ledBy{isSilent: true})
	for range 2 {
		if e := <-ends; e == nil || e.Code != client.CodeNotLeader && !strings.Contains(e.Message, "fallen silent; whether the request took effect is unknown") {
			t.Errorf("under way: %v", e)
		}
	}
	if e := ask("jobs.put", put); e == nil || e.Code != client.CodeNotLeader {
		t.Errorf("later: %v", e)
	}
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("it took %s", took)
	}
}
