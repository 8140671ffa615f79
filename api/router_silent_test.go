package api

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-io/carillon/api/apitest"
	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/testkit"
)

// hungLeader is a process that leads the second of two shards, gets requests and answers none. Its own requests have no answer either.
type hungLeader struct {
	*clusterOfShards
	got *nats.Subscription
}

// hangLeader lets the leader of shard 1 hang; the first process hears it until fallSilent.
func hangLeader(t *testing.T) *hungLeader {
	t.Helper()
	c := startShards(t, 2, Options{Process: "p1"}, 0)
	h := &hungLeader{clusterOfShards: c}
	root := c.services[1].opts.leaderRoot(1, "p1")
	c.stop(1)
	nc := apitest.Connect(t, c.url)
	var err error
	if h.got, err = nc.QueueSubscribeSync(root+">", queueGroup); err != nil {
		t.Fatal(err)
	}
	if err := nc.Flush(); err != nil {
		t.Fatal(err)
	}
	c.processes[0].led[1].Store(&ledBy{process: "p1"})
	return h
}

// fallSilent lets the first process hear the leader no more.
func (h *hungLeader) fallSilent() {
	h.processes[0].silent.Store("p1", true)
	h.processes[0].led[1].Store(&ledBy{isSilent: true})
}

// await waits until the leader has got so many requests in all.
func (h *hungLeader) await(n int) {
	h.t.Helper()
	testkit.Until(h.t, "the requests are on their way", func() bool {
		pending, _, err := h.got.Pending()
		return err == nil && pending >= n
	})
}

// TestUnderWayToASilentLeader: each kind of request that is under way to a leader which falls silent ends with that. A read is
// refused as one that comes later; of a change it is unknown whether it took effect, and the refusal says so.
func TestUnderWayToASilentLeader(t *testing.T) {
	h := hangLeader(t)
	name := nameIn(1, 2, 0)
	run := job.RunID{Job: job.NewID(1, job.SlotOf("default", name))}.String()
	const unknown = "whether the request took effect is unknown"
	asked := []struct{ verb, body, want string }{
		{"jobs.get", `{"name":"` + name + `"}`, awayText(1)},
		{"jobs.list", ``, "shard 1 does not answer"},
		{"jobs.list", `{"partial":true}`, `"missing_shards":[1]`},
		{"runs.list", `{"job":"` + name + `"}`, awayText(1)},
		{"runs.list", `{"status":"dead"}`, "shard 1 does not answer"},
		{"runs.get", `{"run_id":"` + run + `"}`, awayText(1)},
		{"audit.list", ``, "shard 1 does not answer"},
		{"status", ``, "shard 1 has no leader that answers"},
		{"jobs.put", apitest.JobWith("name", `"`+name+`"`), unknown},
		{"jobs.trigger", `{"name":"` + name + `"}`, unknown},
		{"jobs.put_many", `{"jobs":[` + apitest.JobWith("name", `"`+name+`"`) + `]}`, unknown},
		{"runs.retry_many", ``, unknown},
		{"calendars.put", `{"name":"feasts","exclude":["2030-01-01"]}`, unknown},
	}
	replies := make(chan string, len(asked))
	for _, a := range asked {
		go func() {
			text := h.askOver(0, a.verb, a.body)
			if !strings.Contains(text, a.want) {
				text = "wrong: " + text
			}
			replies <- a.verb + " " + a.body + ": " + text
		}()
	}
	h.await(len(asked))
	select {
	case text := <-replies:
		t.Errorf("while the leader is heard: %s", text)
	default:
	}
	began := time.Now()
	h.fallSilent()
	for range asked {
		if text := <-replies; strings.Contains(text, ": wrong: ") {
			t.Error(text)
		}
	}
	if took := time.Since(began); took > 3*time.Second {
		t.Errorf("they ended %s after the leader had fallen silent", took)
	}
}

// TestListsThatWaitHoldNothing: lists that wait for another node do not keep others from being built, such as the runs of a job
// that this node has, or the calendars.
func TestListsThatWaitHoldNothing(t *testing.T) {
	h := hangLeader(t)
	name := nameIn(0, 2, 0)
	if e := refusalIn(t, h.askOver(0, "jobs.put", apitest.JobWith("name", `"`+name+`"`))); e != nil {
		t.Fatal(e)
	}
	lists := 2 * h.routers[0].Executor().rooms.large.limits.partyBuilds
	ended := make(chan string, lists)
	for range lists {
		go func() { ended <- h.askOver(0, "jobs.list", ``) }()
	}
	h.await(lists)
	began := time.Now()
	for verb, body := range map[string]string{"runs.list": `{"job":"` + name + `"}`, "calendars.list": ``} {
		if e := refusalIn(t, h.askOver(0, verb, body)); e != nil {
			t.Errorf("%s: %v", verb, e)
		}
	}
	if took := time.Since(began); took > largeWait {
		t.Errorf("they took %s", took)
	}
	h.fallSilent()
	for range lists {
		h.isUnavailable("a list", <-ended, 1)
	}
	room := h.routers[0].Executor().rooms.large
	testkit.Until(t, "the room is empty", func() bool {
		room.mu.Lock()
		defer room.mu.Unlock()
		return room.builds == 0 && room.bytes == 0 && len(room.parties) == 0
	})
}

// TestGroupWithOneThatHangs: a request to the group of leaders, which may have one that hangs, is not waited for to the end of its time.
func TestGroupWithOneThatHangs(t *testing.T) {
	c := startShards(t, 2, Options{}, 0)
	root := c.services[1].opts.forwardRoot(1)
	c.stop(1)
	c.hang(root + ">")
	c.processes[0].mayHang[1].Store(true)
	began := time.Now()
	c.isUnavailable("a read", c.askOver(0, "jobs.get", `{"name":"`+nameIn(1, 2, 0)+`"}`), 1)
	if took := time.Since(began); took < groupWait || took > 3*groupWait {
		t.Errorf("it took %s", took)
	}
}

// TestStandbyIsAskedByItsProcess: a read that may lag goes to a standby that is heard, and not to one of the group that hangs. If none
// is heard, the leader is asked at once.
func TestStandbyIsAskedByItsProcess(t *testing.T) {
	c := startShards(t, 2, Options{}, 0)
	name := nameIn(1, 2, 0)
	if e := refusalIn(t, c.askOver(0, "jobs.put", apitest.JobWith("name", `"`+name+`"`))); e != nil {
		t.Fatal(e)
	}
	s := c.standby(1, "c", 3, c.old(name), func(o *Options) { o.Process = "p3" })
	c.hang(s.opts.copyRoot(1) + ">")
	for _, x := range []struct {
		heard []string
		lag   string
	}{{[]string{"p3"}, "c/3/30"}, {nil, ""}} {
		c.processes[0].followed[1].Store(&x.heard)
		began := time.Now()
		for range 12 {
			if text, lag := c.read(0, "jobs.get", `{"name":"`+name+`"}`); refusalIn(t, text) != nil || lag != x.lag {
				t.Errorf("%v: %q: %s", x.heard, lag, text)
			}
		}
		if took := time.Since(began); took > copyWait {
			t.Errorf("%v: it took %s", x.heard, took)
		}
	}
	if text := c.ask("jobs.get", `{"name":"`+name+`"}`); refusalIn(t, text) != nil {
		t.Error(text)
	}
}

// TestWhileHeard: a wait ends at the second look in a row that finds silence, and never after its end.
func TestWhileHeard(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		looks := 0
		heard := []bool{true, false, true, false, false}
		began := time.Now()
		ctx, end := whileHeard(t.Context(), time.Second, func() bool { looks++; return heard[looks-1] })
		<-ctx.Done()
		if took := time.Since(began); took != time.Second+4*silenceLook || !isSilence(ctx) {
			t.Errorf("after %s", took)
		}
		end()
		ctx, end = whileHeard(t.Context(), time.Second, func() bool { looks = 99; return false })
		end()
		time.Sleep(time.Minute)
		if looks == 99 || isSilence(ctx) {
			t.Error("it looked after its end")
		}
	})
}

// TestRefusalsOfASilentLeader: only a read is refused as if it had not been sent.
func TestRefusalsOfASilentLeader(t *testing.T) {
	for name, v := range verbsByName {
		for _, x := range []struct {
			failed func(uint32, *Verb, error) error
			read   client.Code
		}{{shardFailed, client.CodeUnavailable}, {standbyFailed, client.CodeNotLeader}} {
			e := PublicError((&forwarder{failed: x.failed}).fallenSilent(3, v))
			want := client.CodeUnavailable
			if v.reads {
				want = x.read
			}
			if e.Code != want || strings.Contains(e.Message, "unknown") == v.reads || strings.Contains(e.Message, "nothing has changed") != v.reads {
				t.Errorf("%s: %v", name, e)
			}
		}
	}
}

// TestRefusalsWithoutAnAnswer: only of a change it is unknown whether it took effect.
func TestRefusalsWithoutAnAnswer(t *testing.T) {
	for name, v := range verbsByName {
		for _, err := range []error{
			shardFailed(1, v, nats.ErrTimeout), standbyFailed(1, v, nats.ErrTimeout), v.ofTime(fmt.Errorf("read: %w", context.DeadlineExceeded)), v.ofTime(context.Canceled),
		} {
			e := PublicError(err)
			if e.Code != client.CodeUnavailable || e.Status != http.StatusServiceUnavailable || strings.Contains(e.Message, "unknown") == v.reads {
				t.Errorf("%s: %v", name, e)
			}
		}
	}
}
