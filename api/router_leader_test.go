package api

import (
	"context"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-io/carillon/api/apitest"
	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/testkit"
)

// hang lets a program subscribe as a node that hangs does: it gets its share of the messages, and answers none.
func (c *clusterOfShards) hang(subjects ...string) {
	c.t.Helper()
	nc := apitest.Connect(c.t, c.url)
	for _, subject := range subjects {
		if _, err := nc.QueueSubscribeSync(subject, queueGroup); err != nil {
			c.t.Fatal(err)
		}
	}
	if err := nc.Flush(); err != nil {
		c.t.Fatal(err)
	}
}

// TestLeaderIsAskedByItsProcess: a former leader that hangs is in the queue group of leaders, and gets nothing from the nodes that
// hear who leads. One that no longer leads is not asked for ever. While the last leader is silent, requests are refused at once.
func TestLeaderIsAskedByItsProcess(t *testing.T) {
	c := startShards(t, 2, Options{Process: "p1"}, 0)
	put := apitest.JobWith("name", `"`+nameIn(1, 2, 0)+`"`)
	c.hang(c.services[1].opts.forwardRoot(1) + ">")
	c.processes[0].led[1].Store(&ledBy{process: "p1"})
	began := time.Now()
	for range 20 {
		if e := refusalIn(t, c.askOver(0, "jobs.put", put)); e != nil {
			t.Fatal(e)
		}
	}
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("20 requests took %s", took)
	}
	c.processes[0].led[1].Store(&ledBy{isSilent: true})
	began = time.Now()
	e := refusalIn(t, c.askOver(0, "jobs.put", put))
	if took := time.Since(began); e == nil || e.Code != client.CodeUnavailable || e.Message != awayText(1) || took > time.Second {
		t.Errorf("%v after %s", e, took)
	}
	c.isUnavailable("a list", c.askOver(0, "jobs.list", ``), 1)
}

// TestLeaderThatIsHeardNoMore: a process that is heard to lead, and has ended or handed over, is passed over for whoever leads.
func TestLeaderThatIsHeardNoMore(t *testing.T) {
	c := startShards(t, 2, Options{Process: "p1"}, 0)
	c.processes[0].led[1].Store(&ledBy{process: "p0"})
	if e := refusalIn(t, c.askOver(0, "jobs.put", apitest.JobWith("name", `"`+nameIn(1, 2, 0)+`"`))); e != nil {
		t.Fatal(e)
	}
	c.stop(1)
	c.isUnavailable("get", c.askOver(0, "jobs.get", `{"name":"`+nameIn(1, 2, 0)+`"}`), 1)
}

// TestNodeIsAskedAlone: each reply of a router says where that node alone is asked; the leader of one shard says nothing.
func TestNodeIsAskedAlone(t *testing.T) {
	c := startShards(t, 2, Options{}, 0)
	request := func(subject, body string) *nats.Msg {
		t.Helper()
		m, err := c.nc.Request(subject, []byte(body), 20*time.Second)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	const name = "Carillon-At"
	for _, router := range c.routers {
		for range 4 {
			m := request("carillon.v1.default.at."+router.id+".jobs.get", `{"name":"none"}`)
			if e := refusalIn(t, string(m.Data)); e == nil || e.Code != client.CodeNotFound || m.Header.Get(name) != router.id {
				t.Errorf("%v: %s", m.Header, m.Data)
			}
		}
	}
	for _, subject := range []string{"carillon.standby.v1.default.jobs.list", "carillon.shard.0.v1.default.jobs.list"} {
		if m := request(subject, ``); m.Header.Get(name) != "" {
			t.Errorf("%s: %v", subject, m.Header)
		}
	}
}

// TestClientAvoidsANodeThatHangs: after one try without an answer the client asks a node that answers, also for what it must
// not repeat; and the group again when that node has ended.
func TestClientAvoidsANodeThatHangs(t *testing.T) {
	c := startShards(t, 2, Options{}, 0)
	c.hang("carillon.v1.*.jobs.get", "carillon.v1.*.jobs.delete")
	one, err := client.New(c.nc, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	testkit.Until(t, "a request is swallowed", func() bool {
		began := time.Now()
		if _, err := one.Get(t.Context(), "none"); !client.IsNotFound(err) {
			t.Fatal(err)
		}
		return time.Since(began) > 900*time.Millisecond
	})
	for range 24 {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		if _, err := one.Delete(ctx, "none"); !client.IsNotFound(err) {
			t.Errorf("a request that must not be repeated: %v", err)
		}
		cancel()
	}
	if err := c.routers[0].Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := one.Get(t.Context(), "none"); !client.IsNotFound(err) {
		t.Error(err)
	}
}
