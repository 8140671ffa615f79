package client_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/carillon-io/carillon/client"
)

// respond lets fn answer the bulk registrations of a tenant that no server knows: the prefix is the
// test's own.
func respond(t *testing.T, prefix string, fn func(request client.PutManyRequest) (reply any, code string)) *client.Client {
	t.Helper()
	nc, c := dial(t, client.Options{Prefix: prefix})
	_, err := nc.Subscribe(prefix+".v1.default.jobs.put_many", func(msg *nats.Msg) {
		var request client.PutManyRequest
		if err := json.Unmarshal(msg.Data, &request); err != nil {
			return // the test finds no answer
		}
		reply, code := fn(request)
		answer := nats.NewMsg(msg.Reply)
		if code != "" {
			answer.Header.Set("Nats-Service-Error-Code", code)
		}
		answer.Data, _ = json.Marshal(reply)
		_ = msg.RespondMsg(answer) // the test may be over by now
	})
	if err == nil {
		err = nc.Flush()
	}
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func accept(request client.PutManyRequest) client.PutManyReply {
	reply := client.PutManyReply{Accepted: len(request.Jobs)}
	for _, j := range request.Jobs {
		reply.Results = append(reply.Results, client.PutResult{Name: j.Name, ID: "1", Version: 1})
	}
	return reply
}

// TestPutAllRepeats lets the server be busy at first.
func TestPutAllRepeats(t *testing.T) {
	var asked atomic.Int32
	c := respond(t, "busy", func(request client.PutManyRequest) (any, string) {
		if asked.Add(1) == 1 {
			return client.ErrorReply{Error: &client.Error{Code: client.CodeRateLimited, Message: "busy"}}, "429"
		}
		return accept(request), ""
	})
	totals, err := c.PutAll(t.Context(), slices.Values([]client.Job{{Name: "a"}, {Name: "b"}}), nil)
	if err != nil || totals.Accepted != 2 || asked.Load() != 2 {
		t.Errorf("%+v, %v, asked %d times", totals, err, asked.Load())
	}
}

// TestPutAllAwaitsLeaders: the shard of some jobs has no leader for a while. They are put again, alone, and their results are at
// their places; one that would replace a later job of its name is not.
func TestPutAllAwaitsLeaders(t *testing.T) {
	refusal := &client.Error{Code: client.CodeUnavailable, Message: "shard 0 has no leader at the moment; nothing has changed"}
	var asked [][]string
	c := respond(t, "leaderless", func(request client.PutManyRequest) (any, string) {
		var texts []string
		reply := client.PutManyReply{}
		for i, j := range request.Jobs {
			texts = append(texts, j.Name+j.Schedule)
			if isRefused := len(asked) < 2 && j.Name != "b" && (j.Name != "same" || i == 2); isRefused {
				reply.Rejected++
				reply.Results = append(reply.Results, client.PutResult{Name: j.Name, Error: refusal})
				continue
			}
			reply.Accepted++
			reply.Results = append(reply.Results, client.PutResult{Name: j.Name, ID: "1", Version: 1})
		}
		asked = append(asked, texts)
		return reply, ""
	})
	jobs := []client.Job{{Name: "a", Schedule: "1"}, {Name: "b", Schedule: "2"}, {Name: "same", Schedule: "3"}, {Name: "same", Schedule: "4"}, {Name: "c", Schedule: "5"}}
	var got []string
	totals, err := c.PutAll(t.Context(), slices.Values(jobs), func(r client.PutResult) { got = append(got, fmt.Sprint(r.Name, r.Error == nil)) })
	if err != nil || totals != (client.PutTotals{Accepted: 4, Rejected: 1}) {
		t.Errorf("%+v, %v", totals, err)
	}
	if want := []string{"atrue", "btrue", "samefalse", "sametrue", "ctrue"}; !slices.Equal(got, want) {
		t.Errorf("results %v, want %v", got, want)
	}
	want := [][]string{{"a1", "b2", "same3", "same4", "c5"}, {"a1", "c5"}, {"a1", "c5"}}
	if !reflect.DeepEqual(asked, want) {
		t.Errorf("asked for %v, want %v", asked, want)
	}
}

// TestPutAllEnds lets the server refuse a request for good: what was told before stands.
func TestPutAllEnds(t *testing.T) {
	c := respond(t, "broken", func(request client.PutManyRequest) (any, string) {
		if request.Jobs[0].Name == "0" {
			return accept(request), ""
		}
		return client.ErrorReply{Error: &client.Error{Code: client.CodeInternal, Message: "broken"}}, "500"
	})
	told := 0
	totals, err := c.PutAll(t.Context(), func(yield func(client.Job) bool) {
		for i := range 1_000_000 {
			if !yield(client.Job{Name: fmt.Sprint(i)}) {
				return
			}
		}
		t.Error("it went on to the end")
	}, func(client.PutResult) { told++ })
	if !errors.Is(err, client.CodeInternal) || totals.Accepted != told || told == 0 {
		t.Errorf("%+v, %v, told %d", totals, err, told)
	}
}

func TestOptions(t *testing.T) {
	for _, opts := range []client.Options{{Prefix: "a.b"}, {Tenant: "*"}, {Timeout: -1}} {
		if _, err := client.New(nil, opts); err == nil {
			t.Errorf("%+v is accepted", opts)
		}
	}
}
