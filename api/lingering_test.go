package api

import (
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-io/carillon/api/apitest"
	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/testkit"
)

// handover is a cluster with one shard whose leader p1 has just handed over, and what its nodes have heard.
type handover struct {
	t     *testing.T
	url   string
	nc    *nats.Conn // of a caller
	heard *process
	opts  Options // of services
	left  *Service
}

// startHandover starts it. The nodes still take p1 for the leader.
func startHandover(t *testing.T) *handover {
	t.Helper()
	h := &handover{t: t, heard: &process{led: make([]atomic.Pointer[ledBy], 1), mayHang: make([]atomic.Bool, 1)}}
	h.hear("p1")
	h.opts = Options{Logger: apitest.Quiet, Leads: func() bool { return true }, Leaders: h.heard}
	first := h.opts
	first.Process = "p1"
	h.left, h.url = startService(t, apitest.StartEngine(t), first, 0)
	h.nc = apitest.Connect(t, h.url)
	if err := h.left.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	return h
}

// hear lets the nodes hear that a process leads; "": none.
func (h *handover) hear(process string) { h.heard.led[0].Store(&ledBy{process: process}) }

// open opens the service of the leader p2, or of a standby.
func (h *handover) open(nc *nats.Conn, standby bool) *Service {
	h.t.Helper()
	o := h.opts
	if o.Process, o.Standby = "p2", standby; standby {
		o.Process = "p3"
	}
	s, err := NewService(nc, apitest.StartEngine(h.t), o)
	if err != nil {
		h.t.Fatal(err)
	}
	apitest.CloseAtEnd(h.t, s.Close)
	return s
}

// ask sends a change, as a caller or as another node, and returns the reply after the header of late ones; "none" if nobody answers.
func (h *handover) ask(subject string) string {
	h.t.Helper()
	m := apitest.NewMsg(subject, apitest.JobWith("name", `"a"`))
	if strings.Contains(subject, ".cluster.") {
		m.Header[forwardHeader] = []string{`{"from":"http","timeout_ms":5000}`}
	}
	got, err := h.nc.RequestMsg(m, 5*time.Second)
	if errors.Is(err, nats.ErrNoResponders) {
		return "none"
	}
	if err != nil {
		h.t.Fatal(err)
	}
	return got.Header.Get(lateHeader) + string(got.Data)
}

func isLate(reply string) bool {
	return strings.HasPrefix(reply, "yes") && strings.Contains(reply, "nothing has changed") && strings.Contains(reply, "not_leader")
}

// TestWhatComesAfterAHandover: whoever asks the node that has handed over, by whatever subject, is refused there, and no request is lost.
// Once another process is heard to lead, only requests to this process alone are.
func TestWhatComesAfterAHandover(t *testing.T) {
	h := startHandover(t)
	own := h.left.opts.leaderRoot(0, "p1") + "default.jobs.put"
	shared := []string{"carillon.v1.default.jobs.put", h.left.opts.forwardRoot(0) + "default.jobs.put"}
	for _, subject := range append(shared, own) {
		if got := h.ask(subject); !isLate(got) {
			t.Errorf("%s: %s", subject, got)
		}
	}
	h.hear("p2")
	for _, subject := range shared {
		testkit.Until(t, subject+" has no subscriber", func() bool { return h.ask(subject) == "none" })
	}
	if got := h.ask(own); !isLate(got) {
		t.Errorf("%s: %s", own, got)
	}
}

// TestLeaderThatGoesOnLeaves: a leader that gives its hand-over up answers again, and no part of its requests is refused.
func TestLeaderThatGoesOnLeaves(t *testing.T) {
	h := startHandover(t)
	o := h.left.opts
	s, err := NewService(h.left.nc, apitest.StartEngine(t), o)
	if err != nil {
		t.Fatal(err)
	}
	apitest.CloseAtEnd(t, s.Close)
	h.left.Lingering().End()
	if err := h.left.nc.Flush(); err != nil {
		t.Fatal(err)
	}
	for range 32 {
		for _, root := range []string{"carillon.v1.", o.forwardRoot(0), o.leaderRoot(0, "p1")} {
			if got := h.ask(root + "default.jobs.put"); !strings.HasPrefix(got, "{") {
				t.Fatal(got)
			}
		}
	}
}

// TestStandbyThatBeginsToLead: what comes to it as a standby is refused for a while, with a code after which callers ask again.
func TestStandbyThatBeginsToLead(t *testing.T) {
	h := startHandover(t)
	s := h.open(apitest.Connect(t, h.url), true)
	if err := s.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	const subject = "carillon.standby.v1.default.jobs.list"
	if got := h.ask(subject); !strings.HasPrefix(got, "yes") || !strings.Contains(got, `"unavailable"`) {
		t.Error(got)
	}
	testkit.Until(t, "it has no subscriber", func() bool { return h.ask(subject) == "none" })
}

// TestRequestThatMeetsAHandover: a node that stands by takes a process for the leader that has just handed over, or knows none. Its request
// is refused by that process, and not lost, and the process that leads now carries it out, once.
func TestRequestThatMeetsAHandover(t *testing.T) {
	for name, heard := range map[string]string{"by its process": "p1", "by the group": ""} {
		t.Run(name, func(t *testing.T) {
			h := startHandover(t)
			h.hear(heard)
			standby := h.open(apitest.Connect(t, h.url), true)
			answers := make(chan error, 2)
			for _, verb := range []string{"jobs.put", "jobs.list"} {
				go func() {
					reply, refusal := standby.Executor().OverHTTP(t.Context(), VerbNamed(verb), func(string) string { return "" }, func() (Request, error) {
						return Request{Tenant: "default", Asker: job.Actor{From: "http"}, Body: []byte(map[string]string{"jobs.put": apitest.JobWith("name", `"a"`)}[verb])}, nil
					})
					reply.Release()
					if refusal != nil {
						answers <- refusal
						return
					}
					answers <- nil
				}()
			}
			h.open(apitest.Connect(t, h.url), false)
			h.hear("p2")
			for range 2 {
				if err := <-answers; err != nil {
					t.Error(err)
				}
			}
			var got string
			testkit.Until(t, "p1 answers no more", func() bool {
				got = audited(t, h.nc)
				return !strings.Contains(got, `"not_leader"`)
			})
			if strings.Count(got, `"action"`) != 1 {
				t.Errorf("not carried out once: %s", got)
			}
		})
	}
}
