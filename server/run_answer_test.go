package server

import (
	"strconv"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/micro"

	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/testkit"
)

// askOnce puts a job of a tenant with a target of kind request, triggers it, and returns the run and what its worker
// receives.
func askOnce(t *testing.T, p *troupe, tenant string) (client.Run, *nats.Msg) {
	t.Helper()
	asked := make(chan *nats.Msg, 1)
	if _, err := p.nc.ChanSubscribe(tenant+".work", asked); err != nil {
		t.Fatal(err)
	}
	c := of(t, p.nc, tenant)
	j := client.Job{Name: "ask", Schedule: "@yearly", Target: client.Target{Kind: "request", Subject: tenant + ".work"}, Retry: client.Retry{MaxAttempts: 1}}
	if _, _, err := c.Put(t.Context(), j); err != nil {
		t.Fatal(err)
	}
	run, err := c.Trigger(t.Context(), client.TriggerRequest{Name: "ask"})
	if err != nil {
		t.Fatal(err)
	}
	return run, testkit.Receive(t, asked)
}

// sprayReplies sends requests as tenant a, whose replies would go to the numbers after that of a reply subject, and to
// more. It returns how many.
func sprayReplies(t *testing.T, p *troupe, seen string, more ...string) int {
	t.Helper()
	dot := strings.LastIndexByte(seen, '.')
	last, secret, _ := strings.Cut(seen[dot+1:], "-")
	number, err := strconv.ParseUint(last, 36, 64)
	if err != nil {
		t.Fatal(err)
	}
	for n := number; n < number+32; n++ {
		next := seen[:dot+1] + strconv.FormatUint(n, 36)
		more = append(more, next, next+"-"+secret)
	}
	for _, reply := range more {
		if err := p.nc.PublishRequest("carillon.v1.a.jobs.list", reply, nil); err != nil {
			t.Fatal(err)
		}
	}
	return len(more)
}

// TestReplyIsNoAnswer: requests of one tenant whose replies would go to the inbox of runs are dropped and counted, and the
// run of another tenant ends by what its own worker answers. That holds even for a tenant that knows the whole subject.
func TestReplyIsNoAnswer(t *testing.T) {
	t.Parallel()
	p := newTroupe(t)
	s := startDoors(t, p, nil)
	_, seen := askOnce(t, p, "a")
	if err := seen.Respond(nil); err != nil {
		t.Fatal(err)
	}
	run, work := askOnce(t, p, "b")
	sprayed := sprayReplies(t, p, seen.Reply, work.Reply)
	testkit.Until(t, "all are counted", func() bool { return p.info(s).DroppedRequests == uint64(sprayed) })
	if err := work.RespondMsg(&nats.Msg{Header: nats.Header{micro.ErrorHeader: {"the worker's own"}}}); err != nil {
		t.Fatal(err)
	}
	b := of(t, p.nc, "b")
	testkit.Until(t, "the run has ended", func() bool {
		got, err := b.Run(t.Context(), run.RunID)
		if err == nil && got.Status == "succeeded" {
			t.Fatalf("the run took a reply of Carillon for its answer: %+v", got)
		}
		return err == nil && strings.HasSuffix(got.Error, "the worker's own")
	})
}
