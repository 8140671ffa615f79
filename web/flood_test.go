package web

import (
	"context"
	"net/http"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/nats-io/nats.go/micro"

	"github.com/carillon-io/carillon/api"
	"github.com/carillon-io/carillon/api/apitest"
	"github.com/carillon-io/carillon/scheduler"
	"github.com/carillon-io/carillon/testkit"
)

// slowLists is an engine whose lists wait until they are let go.
type slowLists struct {
	api.Engine
	begun atomic.Int64
	let   chan struct{}
}

func (e *slowLists) List(ctx context.Context, q scheduler.ListQuery) (scheduler.JobPage, error) {
	e.begun.Add(1)
	<-e.let
	return e.Engine.List(ctx, q)
}

// TestFloodOfLists asks for hundreds of lists at once, over NATS and over HTTP. What there is no room for is refused
// before anything is read, and others are answered meanwhile.
func TestFloodOfLists(t *testing.T) {
	const flood = 300
	e := &slowLists{Engine: apitest.StartEngine(t), let: make(chan struct{})}
	s, url := serve(t, e, api.Options{}, 0)
	w := startWeb(t, Options{Executor: s.Executor}, nil)
	letGo := sync.OnceFunc(func() { close(e.let) })
	t.Cleanup(letGo)
	nc := apitest.Connect(t, url)
	replies, err := nc.SubscribeSync("_INBOX.flood")
	if err != nil {
		t.Fatal(err)
	}
	for range flood {
		if err := nc.PublishRequest("carillon.v1.default.jobs.list", "_INBOX.flood", []byte(`{"limit":1000}`)); err != nil {
			t.Fatal(err)
		}
	}
	codes := make(chan int, flood)
	for range flood {
		go func() {
			resp, err := http.Get(w.base + "/api/v1/jobs?limit=1000")
			if err != nil {
				codes <- 0
				return
			}
			resp.Body.Close()
			codes <- resp.StatusCode
		}()
	}
	most := max(2, runtime.NumCPU()/2) // pages that are built at a time
	for range flood - most {           // nothing else ends before the lists are let go
		if m, err := replies.NextMsg(apitest.Patience); err != nil || m.Header.Get(micro.ErrorCodeHeader) != "429" {
			t.Fatalf("a list that there is no room for: %v %v", m, err)
		}
	}
	for range flood - most {
		if code := <-codes; code != 429 {
			t.Fatalf("a list over HTTP that there is no room for: %d", code)
		}
	}
	if m, err := apitest.Connect(t, url).Request("carillon.v1.other.jobs.get", []byte(`{"name":"a"}`), apitest.Patience); err != nil || m.Header.Get(micro.ErrorCodeHeader) != "404" {
		t.Errorf("another tenant meanwhile: %v %v", m, err)
	}
	if n := e.begun.Load(); n > int64(most) {
		t.Errorf("%d lists were begun; want %d at most at a time", n, most)
	}
	letGo()
	testkit.Until(t, "the room is free", func() bool {
		c := s.Executor().Counts()
		return c.ReplyBytes == 0 && c.InProgress == 0
	})
}
