package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/carillon-io/carillon/client"
)

func TestCountDumped(t *testing.T) {
	load := "LSN 8  epoch 1  4 rows  1.1 KiB  hash 0a\n  put    job      a  schedule=\"@every 6h\"\n  put    name     default/a\n  put    job      b\n  put    meta     next_id  value=7\n"
	other := "LSN 9  epoch 1  2 rows  84 bytes  hash 0b\n  put    meta     epoch  value=1\n  delete run      x\n"
	tests := []struct {
		name, text string
		want       rowCount
	}{
		{"nothing", "", rowCount{}},
		{"one load", load, rowCount{commits: 1, jobs: 2, rows: 4}},
		{"commits without jobs do not count", other + load + other + load, rowCount{commits: 2, jobs: 4, rows: 8}},
		{"the sample is full", strings.Repeat(load, rowSample+7), rowCount{commits: rowSample, jobs: 2 * rowSample, rows: 4 * rowSample}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := countDumped(strings.NewReader(tt.text))
			if err != nil || got != tt.want {
				t.Errorf("got %+v, %v; want %+v", got, err, tt.want)
			}
		})
	}
	if got := (rowCount{commits: 1, jobs: 2, rows: 9}).perJob(); got != 4.5 {
		t.Errorf("%v rows a job, want 4.5", got)
	}
}

// TestSpan: what is late before the standby starts and what is late while it joins are told apart, and
// what is missing in either breaks.
func TestSpan(t *testing.T) {
	from := time.UnixMilli(1_795_000_000_000)
	w := newWindow(from, 3*time.Second, 0)
	var receipts []receipt
	for i := range 300 {
		at, late := from.Add(time.Duration(i)*10*time.Millisecond), time.Millisecond
		if i >= 100 {
			late = 5 * time.Millisecond
		}
		name := fmt.Sprint("shot-", i)
		w.due[name] = at
		receipts = append(receipts, receipt{name, name, at, at.Add(late)})
	}
	join := span{from.Add(time.Second), from.Add(2 * time.Second)}
	w.cut(join.to)
	var r result
	join.tell(&r, w, receipts)
	want := map[string]float64{"before_max_ms": 1, "during_min_ms": 5, "received": 200, "missing": 0}
	for _, f := range r.Figures {
		if value, ok := want[f.Key]; ok && value != f.Value {
			t.Errorf("%s is %v, want %v", f.Key, f.Value, value)
		}
		delete(want, f.Key)
	}
	if len(want) > 0 || len(r.Broken) > 0 {
		t.Errorf("%v are not there; broken: %v", want, r.Broken)
	}
	r = result{}
	join.tell(&r, w, receipts[1:])
	if len(r.Broken) != 1 {
		t.Errorf("one was missing; broken: %v", r.Broken)
	}
}

// fakeMember is a node that answers with one status after the other, and keeps to the last; nil is a failure.
func fakeMember(t *testing.T, answers ...*client.Status) *member {
	var asked atomic.Int64
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		n := min(int(asked.Add(1)), len(answers))
		if answers[n-1] == nil {
			http.Error(w, `{"error":{"code":"unavailable"}}`, http.StatusServiceUnavailable)
			return
		}
		_ = json.NewEncoder(w).Encode(answers[n-1])
	}))
	t.Cleanup(s.Close)
	return &member{url: s.URL, server: &server{exited: make(chan struct{})}}
}

func statusAt(role string, lsn uint64) *client.Status {
	return &client.Status{Role: role, LSN: lsn, AppliedLSN: lsn, Cluster: &client.Cluster{}}
}

// TestLevel: a standby that starts does not answer, then joins, then follows; it is level when it has
// what the leader had at the beginning.
func TestLevel(t *testing.T) {
	s := &stand{ctx: t.Context(), progress: io.Discard}
	c := &trio{
		leader:  fakeMember(t, statusAt("leader", 20), statusAt("leader", 90)),
		standby: fakeMember(t, nil, statusAt("joining", 0), statusAt("joining", 20), statusAt("standby", 19), statusAt("standby", 20)),
	}
	var seen []string
	err := c.level(s, func(st client.Status) { seen = append(seen, fmt.Sprint(st.Role, st.AppliedLSN)) })
	if want := []string{"joining0", "joining20", "standby19", "standby20"}; err != nil || !slices.Equal(seen, want) {
		t.Errorf("saw %v, %v; want %v", seen, err, want)
	}

	c.standby = fakeMember(t, nil)
	close(c.standby.exited)
	if err := c.level(s, nil); err == nil || !strings.Contains(err.Error(), "the standby has ended") {
		t.Errorf("a standby that has ended: %v", err)
	}

	ctx, cancel := context.WithCancel(t.Context())
	c = &trio{leader: fakeMember(t, statusAt("leader", 2)), standby: fakeMember(t, statusAt("standby", 1))}
	err = c.level(&stand{ctx: ctx, progress: io.Discard}, func(client.Status) { cancel() })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("an interrupted wait: %v", err)
	}
}

func TestSameJobs(t *testing.T) {
	s := &stand{ctx: t.Context()}
	for _, lacks := range []int{0, 1} {
		leader, standby := statusAt("leader", 9), statusAt("standby", 9)
		leader.Jobs, standby.Jobs = 1000, 1000-lacks
		var r result
		c := &trio{leader: fakeMember(t, leader), standby: fakeMember(t, standby)}
		if err := c.sameJobs(s, &r); err != nil || len(r.Broken) != lacks {
			t.Errorf("%d jobs are lacking: %v, broken: %v", lacks, err, r.Broken)
		}
	}
}

func TestWatchLag(t *testing.T) {
	behind := statusAt("standby", 15)
	behind.Cluster.Lag = 3
	c := &trio{leader: fakeMember(t, statusAt("leader", 20)), standby: fakeMember(t, behind)}
	seen := make(chan struct{})
	c.leader.url = relay(t, c.leader.url, seen)
	stop := c.watchLag(t.Context())
	<-seen
	<-seen // the first round is taken in when the second has begun
	if got, want := stop(), (lag{said: 3, seen: 5}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// relay returns an address whose first two requests are told of.
func relay(t *testing.T, url string, seen chan<- struct{}) string {
	var left atomic.Int64
	left.Store(2)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if left.Add(-1) >= 0 {
			seen <- struct{}{}
		}
		http.Redirect(w, r, url+r.URL.Path, http.StatusTemporaryRedirect)
	}))
	t.Cleanup(s.Close)
	return s.URL
}
