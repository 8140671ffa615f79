package api

import (
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/carillon-io/carillon/api/apitest"
	"github.com/carillon-io/carillon/job"
)

// TestRequestThatMeetsAHandover: a node takes a process for the leader that has just handed over. Its request is refused there, and not
// lost, and the process that leads now carries it out, once.
func TestRequestThatMeetsAHandover(t *testing.T) {
	before, url := startService(t, apitest.StartEngine(t), Options{Leads: func() bool { return true }, Process: "p1"}, 0)
	nc := apitest.Connect(t, url)
	ask := func() string {
		m := apitest.NewMsg(before.opts.leaderRoot(0, "p1")+"default.jobs.put", apitest.JobWith("name", `"a"`))
		m.Header[forwardHeader] = []string{`{"from":"http","timeout_ms":5000}`}
		got, err := nc.RequestMsg(m, 5*time.Second)
		if err != nil {
			t.Fatal(err)
		}
		return got.Header.Get(lateHeader) + string(got.Data)
	}
	if err := before.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := ask(); !strings.HasPrefix(got, "yes") || !strings.Contains(got, "not_leader") || !strings.Contains(got, "nothing has changed") {
		t.Errorf("after the hand-over: %s", got)
	}

	after, err := NewService(nc, apitest.StartEngine(t), Options{Logger: apitest.Quiet, Leads: func() bool { return true }, Process: "p2"})
	if err != nil {
		t.Fatal(err)
	}
	apitest.CloseAtEnd(t, after.Close)
	heard := &process{led: make([]atomic.Pointer[ledBy], 1), mayHang: make([]atomic.Bool, 1)}
	heard.led[0].Store(&ledBy{process: "p1"})
	standby, err := NewService(apitest.Connect(t, url), apitest.StartEngine(t), Options{
		Logger: apitest.Quiet, Standby: true, Leads: func() bool { return false }, Leaders: heard,
	})
	if err != nil {
		t.Fatal(err)
	}
	apitest.CloseAtEnd(t, standby.Close)
	time.AfterFunc(silenceLook/2, func() { heard.led[0].Store(&ledBy{process: "p2"}) }) // a beat says so
	for _, verb := range []string{"jobs.put", "jobs.list"} {
		began := time.Now()
		reply, refusal := standby.Executor().OverHTTP(t.Context(), VerbNamed(verb), func(string) string { return "" }, func() (Request, error) {
			return Request{Tenant: "default", Asker: job.Actor{From: "http"}, Body: []byte(map[string]string{"jobs.put": apitest.JobWith("name", `"a"`)}[verb])}, nil
		})
		if refusal != nil || time.Since(began) > 4*time.Second {
			t.Errorf("%s at a node that takes the former leader for the leader: %v after %s", verb, refusal, time.Since(began))
		}
		reply.Release()
	}
	if got := audited(t, nc); strings.Count(got, `"action"`) != 1 {
		t.Errorf("not carried out once: %s", got)
	}
}
