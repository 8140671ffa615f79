package client

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-json-experiment/json"
)

// noLeader is what a server says of a job whose shard has no leader.
const noLeader = "shard 1 has no leader at the moment; nothing has changed, ask again later"

// leaderless is the way to a cluster in which the shard of some jobs has no leader.
type leaderless struct {
	bytesMax int
	isAway   func(name string) bool
	takes    time.Duration // until a request is answered
}

func (w *leaderless) requestBytesMax() int { return w.bytesMax }

func (w *leaderless) close() {}

func (w *leaderless) exchange(ctx context.Context, _ string, body []byte, reply any) error {
	if !sleep(ctx, w.takes) {
		return &Error{Code: CodeUnavailable, Cause: ctx.Err()}
	}
	var request PutManyRequest
	if err := json.Unmarshal(body, &request); err != nil {
		return err
	}
	to := reply.(*PutManyReply)
	for _, j := range request.Jobs {
		result := PutResult{Name: j.Name, Version: 1}
		if w.isAway(j.Name) {
			result = PutResult{Name: j.Name, Error: &Error{Code: CodeUnavailable, Message: noLeader}}
			to.Rejected++
		} else {
			to.Accepted++
		}
		to.Results = append(to.Results, result)
	}
	return nil
}

// clientVia returns a client whose requests go a way, one after the other.
func clientVia(w *leaderless, timeout time.Duration) *Client {
	return &Client{via: w, opts: Options{Timeout: timeout, BulkInFlight: 1}.withDefaults()}
}

// TestPutAllWaitsForTheTimeout: a shard stays without a leader. Its jobs have the refusal as their result once the timeout of
// the client, or the context, is over, also when a repetition is under way then.
func TestPutAllWaitsForTheTimeout(t *testing.T) {
	const second = time.Second
	for name, c := range map[string]struct {
		timeout, deadline, takes time.Duration // no deadline: the context has none
		least, most              time.Duration
	}{
		"by default":                {least: 14 * second, most: 15 * second},
		"timeout":                   {timeout: 2 * second, least: 1700 * time.Millisecond, most: 2 * second},
		"context":                   {timeout: 20 * second, deadline: 3 * second, least: 3 * second, most: 3 * second},
		"a repetition is under way": {timeout: 2 * second, takes: 1500 * time.Millisecond, least: 4500 * time.Millisecond, most: 5 * second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := &leaderless{bytesMax: 1 << 20, takes: c.takes, isAway: func(name string) bool { return name == "p4" }}
				ctx, begun := t.Context(), time.Now()
				if c.deadline > 0 {
					var cancel context.CancelFunc
					ctx, cancel = context.WithTimeout(ctx, c.deadline)
					defer cancel()
				}
				refused := ""
				totals, err := clientVia(w, c.timeout).PutAll(ctx, slices.Values(jobsNamed(10)), func(r PutResult) {
					if r.Error != nil {
						refused += r.Name + ": " + r.Error.Message
					}
				})
				if err != nil || totals != (PutTotals{Accepted: 9, Rejected: 1}) || refused != "p4: "+noLeader {
					t.Errorf("%+v, %v, refused %q", totals, err, refused)
				}
				if took := time.Since(begun); took < c.least || took > c.most {
					t.Errorf("it took %s, want %s to %s", took, c.least, c.most)
				}
			})
		})
	}
}

// TestPutAllWaitsInVainOnce: each job is a request. The jobs of a shard that stays without a leader cost one wait, and once a request
// was without a refusal, the next takeover is waited for.
func TestPutAllWaitsInVainOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		passed := func() time.Duration { return time.Since(begun) }
		w := &leaderless{takes: 10 * time.Millisecond, isAway: func(name string) bool {
			return strings.HasPrefix(name, "away") || name == "takeover" && passed() < 6*time.Second
		}}
		text, err := encode(Job{Name: "takeover"})
		if err != nil {
			t.Fatal(err)
		}
		w.bytesMax = len(bulkHead) + len(text) + len(bulkTail)
		var jobs []Job
		for _, name := range []string{"away1", "away2", "away3", "here", "takeover"} {
			jobs = append(jobs, Job{Name: name})
		}
		totals, err := clientVia(w, 4*time.Second).PutAll(t.Context(), slices.Values(jobs), nil)
		if err != nil || totals != (PutTotals{Accepted: 2, Rejected: 3}) {
			t.Errorf("%+v, %v", totals, err)
		}
		if took := passed(); took < 6*time.Second || took > 7*time.Second {
			t.Errorf("it took %s", took)
		}
	})
}

// jobsNamed returns jobs with the names p0, p1 and so on.
func jobsNamed(n int) (jobs []Job) {
	for i := range n {
		jobs = append(jobs, Job{Name: fmt.Sprint("p", i)})
	}
	return jobs
}
