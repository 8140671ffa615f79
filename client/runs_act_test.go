package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-io/carillon/client"
)

// leastReply has the members that a client needs of a reply to any verb that the tests call.
var leastReply = json.RawMessage(`{"job":{"name":"a"},"run":{"run_id":"a"},"calendar":{"name":"a"},"results":[{"name":"a"}]}`)

// serve answers the verbs of a prefix that no server knows, one request after the other.
func serve(t *testing.T, prefix string, opts client.Options, fn func(verb string, msg *nats.Msg) any) *client.Client {
	t.Helper()
	opts.Prefix = prefix
	nc, c := dial(t, opts)
	head := prefix + ".v1.default."
	_, err := nc.Subscribe(head+">", func(msg *nats.Msg) {
		answer := nats.NewMsg(msg.Reply)
		reply := fn(strings.TrimPrefix(msg.Subject, head), msg)
		answer.Header.Set("Carillon-Reply", strings.TrimPrefix(msg.Subject, head))
		if _, refused := reply.(client.ErrorReply); refused {
			answer.Header.Set("Nats-Service-Error-Code", "500")
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

// graves holds dead runs by their scheduled times, newest first, with a fake of the two verbs that
// RetryAll uses. A run that is retried is dead again at once if it stays dead.
type graves struct {
	dead       []time.Time
	staysDead  bool
	retriedAll map[time.Time]int
	requests   int
}

func (g *graves) serve(verb string, msg *nats.Msg) any {
	g.requests++
	if verb == "runs.list" {
		var q client.RunListRequest
		_ = json.Unmarshal(msg.Data, &q)
		var page client.RunPage
		for _, at := range g.dead {
			if q.Cursor != "" && at.UnixMilli() >= cursorMillis(q.Cursor) {
				continue
			}
			if len(page.Runs) == q.Limit {
				page.NextCursor = fmt.Sprint(page.Runs[q.Limit-1].ScheduledAt.UnixMilli())
				break
			}
			page.Runs = append(page.Runs, client.Run{ScheduledAt: client.At(at), Status: "dead"})
		}
		return page
	}
	var q client.RetryManyRequest
	_ = json.Unmarshal(msg.Data, &q)
	n := 0
	g.dead = slices.DeleteFunc(g.dead, func(at time.Time) bool {
		if n == q.Limit || at.Before(q.From.Time) || !at.Before(q.To.Time) {
			return false
		}
		n++
		g.retriedAll[at]++
		return !g.staysDead
	})
	return client.RetryManyReply{Retried: n, More: len(g.dead) > 0}
}

func cursorMillis(cursor string) (ms int64) {
	_, _ = fmt.Sscan(cursor, &ms)
	return ms
}

// TestRetryAll goes through 25 dead runs in pages of 10, whose targets are well again or not: each run is
// retried once, and there is an end.
func TestRetryAll(t *testing.T) {
	for _, staysDead := range []bool{false, true} {
		g := &graves{staysDead: staysDead, retriedAll: make(map[time.Time]int)}
		for i := range 25 {
			g.dead = append(g.dead, time.UnixMilli(1_764_576_000_000-int64(i)).UTC())
		}
		c := serve(t, fmt.Sprintf("graves-%t", staysDead), client.Options{}, g.serve)
		var told []int
		n, err := c.RetryAll(t.Context(), client.RetryManyRequest{Limit: 10}, func(n int) { told = append(told, n) })
		if err != nil || n != 25 || !slices.Equal(told, []int{10, 20, 25}) || g.requests != 6 || len(g.retriedAll) != 25 {
			t.Errorf("stays dead %t: %d, %v; told %v, %d requests", staysDead, n, err, told, g.requests)
		}
		for at, times := range g.retriedAll {
			if times != 1 {
				t.Errorf("stays dead %t: the run of %s was retried %d times", staysDead, at, times)
			}
		}
	}
}

func TestRetryAllOfNone(t *testing.T) {
	c := serve(t, "no-graves", client.Options{}, new(graves).serve)
	if n, err := c.RetryAll(t.Context(), client.RetryManyRequest{}, nil); n != 0 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
}

// TestBy sends every request in somebody's name, and none in nobody's.
func TestBy(t *testing.T) {
	for prefix, by := range map[string]string{"by-alice": "alice@ci: Zoë", "by-nobody": ""} {
		var got []string
		c := serve(t, prefix, client.Options{By: by}, func(_ string, msg *nats.Msg) any {
			got = append(got, msg.Header.Get("Carillon-By"))
			return leastReply
		})
		ctx := t.Context()
		for _, act := range []func() error{
			func() error { _, err := c.Pause(ctx, "a", ""); return err },
			func() error { _, err := c.Extend(ctx, "run", 1, time.Second); return err },
			func() error { _, err := c.PutMany(ctx, []client.Job{{Name: "a"}}); return err },
		} {
			if err := act(); err != nil {
				t.Error(err)
			}
		}
		if !slices.Equal(got, []string{by, by, by}) {
			t.Errorf("%q was sent as %q", by, got)
		}
	}
}

// TestBulkLeavesRoomForBy puts jobs so large that a message just holds one with its header.
func TestBulkLeavesRoomForBy(t *testing.T) {
	sizes := make(chan int, 100)
	c := serve(t, "roomy", client.Options{By: strings.Repeat("x", 128)}, func(_ string, msg *nats.Msg) any {
		var request client.PutManyRequest
		if err := json.Unmarshal(msg.Data, &request); err != nil {
			return client.ErrorReply{Error: &client.Error{Code: client.CodeInternal, Message: err.Error()}}
		}
		sizes <- len(msg.Data)
		return accept(request)
	})
	const jobs = 200
	totals, err := c.PutAll(t.Context(), func(yield func(client.Job) bool) {
		for i := range jobs {
			if !yield(client.Job{Name: fmt.Sprint(i), Description: strings.Repeat("x", 100_000+i)}) {
				return
			}
		}
	}, nil)
	if err != nil || totals.Accepted != jobs {
		t.Errorf("%+v, %v; %d requests", totals, err, len(sizes))
	}
}

func TestBadBy(t *testing.T) {
	for _, by := range []string{strings.Repeat("x", 129), "a\r\nb", "\x00", "\xff"} {
		if _, err := client.New(nil, client.Options{By: by}); err == nil {
			t.Errorf("%q is somebody", by)
		}
	}
	if _, err := client.New(nil, client.Options{By: "Zoë@ci"}); err != nil {
		t.Error(err)
	}
}

// TestOutcomeUnknown lets a report get no answer.
func TestOutcomeUnknown(t *testing.T) {
	nc, c := dial(t, client.Options{Prefix: "mute", Timeout: 20 * time.Millisecond})
	if _, err := nc.Subscribe("mute.>", func(*nats.Msg) {}); err != nil {
		t.Fatal(err)
	}
	_, err := c.Report(t.Context(), client.ReportRequest{RunID: "x", Fence: 1, Status: client.OutcomeSucceeded})
	if !client.IsUnavailable(err) || !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
}
