package client_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/testkit"
)

// verbCalls is one call of each verb, and whether it is sent again when its outcome is unknown.
var verbCalls = []struct {
	name  string
	again bool
	call  func(context.Context, *client.Client) error
}{
	{"jobs.put", true, func(ctx context.Context, c *client.Client) error {
		_, _, err := c.Put(ctx, client.Job{Name: "a"})
		return err
	}},
	{"jobs.put with a version", false, func(ctx context.Context, c *client.Client) error {
		_, _, err := c.PutIfVersion(ctx, client.Job{Name: "a"}, 0)
		return err
	}},
	{"jobs.put_many", true, func(ctx context.Context, c *client.Client) error {
		_, err := c.PutMany(ctx, []client.Job{{Name: "a"}})
		return err
	}},
	{"jobs.get", true, func(ctx context.Context, c *client.Client) error { return second(c.Get(ctx, "a")) }},
	{"jobs.list", true, func(ctx context.Context, c *client.Client) error { return second(c.List(ctx, client.ListRequest{})) }},
	{"jobs.delete", false, func(ctx context.Context, c *client.Client) error { return second(c.Delete(ctx, "a")) }},
	{"jobs.pause", true, func(ctx context.Context, c *client.Client) error { return second(c.Pause(ctx, "a", "")) }},
	{"jobs.resume", true, func(ctx context.Context, c *client.Client) error { return second(c.Resume(ctx, "a", "")) }},
	{"jobs.delete with a version", false, func(ctx context.Context, c *client.Client) error {
		return second(c.DeleteIfVersion(ctx, "a", 1))
	}},
	{"jobs.pause with a version", false, func(ctx context.Context, c *client.Client) error {
		return second(c.PauseIfVersion(ctx, "a", "", 1))
	}},
	{"jobs.resume with a version", false, func(ctx context.Context, c *client.Client) error {
		return second(c.ResumeIfVersion(ctx, "a", "", 1))
	}},
	{"jobs.trigger", false, func(ctx context.Context, c *client.Client) error {
		return second(c.Trigger(ctx, client.TriggerRequest{Name: "a"}))
	}},
	{"jobs.trigger with a key", true, func(ctx context.Context, c *client.Client) error {
		return second(c.Trigger(ctx, client.TriggerRequest{Name: "a", IdempotencyKey: "k"}))
	}},
	{"jobs.backfill", false, func(ctx context.Context, c *client.Client) error {
		return second(c.Backfill(ctx, client.BackfillRequest{Name: "a"}))
	}},
	{"runs.get", true, func(ctx context.Context, c *client.Client) error { return second(c.Run(ctx, "r")) }},
	{"runs.list", true, func(ctx context.Context, c *client.Client) error {
		return second(c.ListRuns(ctx, client.RunListRequest{Job: "a"}))
	}},
	{"runs.report", true, func(ctx context.Context, c *client.Client) error {
		return second(c.Report(ctx, client.ReportRequest{RunID: "r", Fence: 1}))
	}},
	{"runs.extend", true, func(ctx context.Context, c *client.Client) error {
		return second(c.Extend(ctx, "r", 1, time.Second))
	}},
	{"runs.cancel", true, func(ctx context.Context, c *client.Client) error { return second(c.CancelRun(ctx, "r")) }},
	{"runs.retry", false, func(ctx context.Context, c *client.Client) error { return second(c.RetryRun(ctx, "r")) }},
	{"runs.retry_many", false, func(ctx context.Context, c *client.Client) error {
		return second(c.RetryMany(ctx, client.RetryManyRequest{}))
	}},
	{"runs.dismiss", true, func(ctx context.Context, c *client.Client) error {
		return second(c.Dismiss(ctx, client.DismissRequest{RunID: "r"}))
	}},
	{"runs.dismiss_many", false, func(ctx context.Context, c *client.Client) error {
		return second(c.DismissMany(ctx, client.DismissManyRequest{}))
	}},
	{"calendars.put", true, func(ctx context.Context, c *client.Client) error {
		_, _, err := c.PutCalendar(ctx, client.CalendarRequest{Name: "a"})
		return err
	}},
	{"calendars.get", true, func(ctx context.Context, c *client.Client) error { return second(c.Calendar(ctx, "a")) }},
	{"calendars.list", true, func(ctx context.Context, c *client.Client) error {
		return second(c.ListCalendars(ctx, client.CalendarListRequest{}))
	}},
	{"calendars.delete", false, func(ctx context.Context, c *client.Client) error { return c.DeleteCalendar(ctx, "a") }},
	{"audit.list", true, func(ctx context.Context, c *client.Client) error {
		return second(c.ListAudit(ctx, client.AuditRequest{}))
	}},
	{"schedules.next", true, func(ctx context.Context, c *client.Client) error {
		return second(c.Next(ctx, client.NextRequest{Schedule: "@daily"}))
	}},
	{"status", true, func(ctx context.Context, c *client.Client) error { return second(c.Status(ctx)) }},
	{"whoami", true, func(ctx context.Context, c *client.Client) error { return second(c.Whoami(ctx)) }},
}

func second[T any](_ T, err error) error { return err }

// verbOf is the verb of a call, without what is special about it.
func verbOf(name string) string { return strings.Fields(name)[0] }

// isChange reports whether a call may change something.
func isChange(name string) bool {
	_, what, _ := strings.Cut(verbOf(name), ".")
	return what != "" && what != "get" && what != "list" && what != "next"
}

// refuseFirst answers the first request with a code and the others with the least reply, and counts both.
func refuseFirst(code client.Code, asked *int) func(string, *nats.Msg) any {
	return func(string, *nats.Msg) any {
		if *asked++; *asked == 1 {
			return client.ErrorReply{Error: &client.Error{Code: code, Message: "not just now"}}
		}
		return leastReply
	}
}

// TestUnavailableFirst lets a leader that is about to go answer the first request: what may be done twice
// is sent again, the rest tells its caller.
func TestUnavailableFirst(t *testing.T) {
	for i, v := range verbCalls {
		asked := 0
		c := serve(t, "going-"+string(rune('a'+i)), client.Options{}, refuseFirst(client.CodeUnavailable, &asked))
		err := v.call(t.Context(), c)
		switch {
		case v.again && (err != nil || asked != 2):
			t.Errorf("%s: asked %d times, %v; want it to be sent again", v.name, asked, err)
		case !v.again && (!errors.Is(err, client.CodeUnavailable) || asked != 1):
			t.Errorf("%s: asked %d times, %v; want it to be sent once", v.name, asked, err)
		}
	}
}

// TestNotLeaderFirst lets a standby answer the first request: it did nothing, so each is sent again.
func TestNotLeaderFirst(t *testing.T) {
	for i, v := range verbCalls {
		asked := 0
		c := serve(t, "standby-"+string(rune('a'+i)), client.Options{}, refuseFirst(client.CodeNotLeader, &asked))
		if err := v.call(t.Context(), c); err != nil || asked != 2 {
			t.Errorf("%s: asked %d times, %v", v.name, asked, err)
		}
	}
}

// TestLateLeader sends a request of each verb while nobody is there to answer. When a leader comes, each
// gets its answer, and the leader each request once.
func TestLateLeader(t *testing.T) {
	nc, c := dial(t, client.Options{Prefix: "late"})
	var calls sync.WaitGroup
	want := make(map[string]int)
	for _, v := range verbCalls {
		want[verbOf(v.name)]++
		calls.Go(func() {
			if err := v.call(t.Context(), c); err != nil {
				t.Errorf("%s: %v", v.name, err)
			}
		})
	}
	testkit.Until(t, "the requests are sent", func() bool { return nc.Stats().OutMsgs >= uint64(3*len(verbCalls)) })
	got := make(map[string]int)
	serve(t, "late", client.Options{}, func(verb string, _ *nats.Msg) any {
		got[verb]++
		return leastReply
	})
	calls.Wait()
	if !maps.Equal(got, want) {
		t.Errorf("the leader got %v, want %v", got, want)
	}
}

// TestNoRetry has every request sent once, whatever comes back.
func TestNoRetry(t *testing.T) {
	nc, c := dial(t, client.Options{Prefix: "nobody", NoRetry: true})
	for _, v := range verbCalls {
		before := nc.Stats().OutMsgs
		if err := v.call(t.Context(), c); !errors.Is(err, nats.ErrNoResponders) || nc.Stats().OutMsgs != before+1 {
			t.Errorf("%s: %d messages, %v", v.name, nc.Stats().OutMsgs-before, err)
		}
	}
	asked := 0
	c = serve(t, "once", client.Options{NoRetry: true}, refuseFirst(client.CodeUnavailable, &asked))
	if _, err := c.Get(t.Context(), "a"); !errors.Is(err, client.CodeUnavailable) || asked != 1 {
		t.Errorf("asked %d times, %v", asked, err)
	}
}

// TestDoubt: no request gets an answer, or each is refused until the time is over. Only of one that may change something is it
// unknown whether it took effect.
func TestDoubt(t *testing.T) {
	refusing := func(string, *nats.Msg) any {
		return client.ErrorReply{Error: &client.Error{Code: client.CodeUnavailable, Message: "not just now"}}
	}
	nc, silent := dial(t, client.Options{Prefix: "silent", Timeout: 20 * time.Millisecond, BulkTimeout: 20 * time.Millisecond})
	if _, err := nc.Subscribe("silent.>", func(*nats.Msg) {}); err != nil {
		t.Fatal(err)
	}
	if err := nc.Flush(); err != nil {
		t.Fatal(err)
	}
	busy := serve(t, "refusing", client.Options{Timeout: 30 * time.Millisecond, BulkTimeout: 30 * time.Millisecond}, refusing)
	for _, v := range verbCalls {
		for of, c := range map[string]*client.Client{"no answer": silent, "refused": busy} {
			if of == "refused" && !v.again {
				continue // it has its refusal at once
			}
			err := v.call(t.Context(), c)
			if has := strings.Contains(fmt.Sprint(err), "unknown"); !client.IsUnavailable(err) || !strings.Contains(err.Error(), "no answer") || has != isChange(v.name) {
				t.Errorf("%s, %s: %v", v.name, of, err)
			}
		}
	}
}

// TestNobodyHandsOver: the text begins with what is likely.
func TestNobodyHandsOver(t *testing.T) {
	_, c := dial(t, client.Options{Prefix: "leaderless"})
	for name, call := range map[string]func() error{
		"shard 3 has no leader at the moment": func() error { return second(c.Handover(t.Context(), 3, "")) },
		"shard 0 has no leader at the moment": func() error {
			return second(c.Place(t.Context(), client.PlaceRequest{Verb: client.PlaceDrain, Node: "a"}))
		},
	} {
		if err := call(); !client.IsUnavailable(err) || !errors.Is(err, nats.ErrNoResponders) || !strings.Contains(err.Error(), ": "+name+", the server is not") {
			t.Error(err)
		}
	}
}

// TestGivesUp ends the patience of a caller, who learns whether anything can have happened.
func TestGivesUp(t *testing.T) {
	nc, c := dial(t, client.Options{Prefix: "gone", Timeout: 100 * time.Millisecond})
	_, err := c.Delete(t.Context(), "a")
	if !client.IsUnavailable(err) || !errors.Is(err, nats.ErrNoResponders) || !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "nothing was done") {
		t.Errorf("nobody was there: %v", err)
	}

	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(10*time.Millisecond, cancel)
	if _, err := c.Delete(ctx, "a"); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}

	// A leader takes the request, and is gone before it is sent again.
	sub, err := nc.Subscribe("gone.v1.default.jobs.pause", func(msg *nats.Msg) {
		_ = msg.Sub.Unsubscribe()
		answer := nats.NewMsg(msg.Reply)
		answer.Header.Set("Nats-Service-Error-Code", "503")
		answer.Data = []byte(`{"error":{"code":"unavailable","message":"the server is stopping"}}`)
		_ = msg.RespondMsg(answer)
	})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = sub.Unsubscribe() }()
	_, err = c.Pause(t.Context(), "a", "")
	if !client.IsUnavailable(err) || !errors.Is(err, nats.ErrNoResponders) || !strings.Contains(err.Error(), "unknown") {
		t.Errorf("a leader was there for a moment: %v", err)
	}
}
