package client

import (
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
)

// connections returns two connections to a NATS server: of a user that may do everything, and of one that may publish requests to
// the given subjects alone.
func connections(t *testing.T, allowed ...string) (all, narrow *nats.Conn) {
	t.Helper()
	users := []*server.User{
		{Username: "all", Password: "p"},
		{Username: "narrow", Password: "p", Permissions: &server.Permissions{Publish: &server.SubjectPermission{Allow: allowed}}},
	}
	s, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: server.RANDOM_PORT, NoSigs: true, NoLog: true, Users: users})
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(s.Shutdown)
	if !s.ReadyForConnections(10 * time.Second) {
		t.Fatal("NATS did not become ready")
	}
	connect := func(user string) *nats.Conn {
		nc, err := nats.Connect(s.ClientURL(), nats.UserInfo(user, "p"), nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(nc.Close)
		return nc
	}
	return connect("all"), connect("narrow")
}

// TestSilence loses the answer to the first request, as a leader does that dies with it. What may be
// repeated is sent again after the time of a try; the rest waits for its answer to the end.
func TestSilence(t *testing.T) {
	nc, _ := connections(t)
	var asked atomic.Int32
	_, err := nc.Subscribe("carillon.v1.default.x", func(msg *nats.Msg) {
		if asked.Add(1) > 1 {
			_ = msg.RespondMsg(&nats.Msg{Data: []byte(`{}`), Header: nats.Header{replyHeader: {"x"}}})
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	c, err := New(nc, Options{})
	if err != nil {
		t.Fatal(err)
	}
	q := call{verb: "x", repeatable: true, timeout: 20 * time.Second, tryTimeout: 50 * time.Millisecond}
	if err := c.exchange(t.Context(), q, &struct{}{}); err != nil || asked.Load() != 2 {
		t.Errorf("to be repeated: asked %d times, %v", asked.Load(), err)
	}
	asked.Store(0)
	q.repeatable, q.timeout = false, 200*time.Millisecond
	if err := c.exchange(t.Context(), q, &struct{}{}); !errors.Is(err, CodeUnavailable) || asked.Load() != 1 {
		t.Errorf("not to be repeated: asked %d times, %v", asked.Load(), err)
	}
}

// TestUnknownNodes: each request to all nodes is swallowed, and the client has never heard of a node. It finds one by a
// question that has no effect, and the next try is for that node.
func TestUnknownNodes(t *testing.T) {
	nc, _ := connections(t)
	var swallowed, looked atomic.Int32
	handlers := map[string]nats.MsgHandler{
		"carillon.v1.default.x": func(*nats.Msg) { swallowed.Add(1) },
		"carillon.v1.default.whoami": func(m *nats.Msg) {
			if looked.Add(1) == lookAsks { // the others are swallowed too
				_ = m.RespondMsg(&nats.Msg{Header: nats.Header{atHeader: {"b"}}})
			}
		},
		"carillon.v1.default.at.b.x": func(m *nats.Msg) {
			_ = m.RespondMsg(&nats.Msg{Data: []byte(`{}`), Header: nats.Header{replyHeader: {"x"}}})
		},
	}
	for subject, handle := range handlers {
		if _, err := nc.Subscribe(subject, handle); err != nil {
			t.Fatal(err)
		}
	}
	c, err := New(nc, Options{})
	if err != nil {
		t.Fatal(err)
	}
	q := call{verb: "x", repeatable: true, timeout: 20 * time.Second, tryTimeout: lostAfter + 50*time.Millisecond}
	if err := c.exchange(t.Context(), q, &struct{}{}); err != nil || swallowed.Load() != 1 || looked.Load() != lookAsks {
		t.Errorf("%d swallowed, %d questions, %v", swallowed.Load(), looked.Load(), err)
	}
}

// TestNodesThatMayNotBeAsked: the NATS user of a client may ask all nodes together, and none by its name. After the first refusal
// the client asks all of them again.
func TestNodesThatMayNotBeAsked(t *testing.T) {
	nc, narrow := connections(t, "carillon.v1.default.*")
	var asked atomic.Int32
	handlers := map[string]nats.MsgHandler{
		"carillon.v1.default.x": func(m *nats.Msg) {
			if asked.Add(1) > 1 {
				_ = m.RespondMsg(&nats.Msg{Data: []byte(`{}`), Header: nats.Header{replyHeader: {"x"}, atHeader: {"b"}}})
			}
		},
		"carillon.v1.default.whoami": func(m *nats.Msg) { _ = m.RespondMsg(&nats.Msg{Header: nats.Header{atHeader: {"b"}}}) },
		"carillon.v1.default.at.b.x": func(*nats.Msg) { t.Error("the server let the request through") },
	}
	for subject, handle := range handlers {
		if _, err := nc.Subscribe(subject, handle); err != nil {
			t.Fatal(err)
		}
	}
	c, err := New(narrow, Options{})
	if err != nil {
		t.Fatal(err)
	}
	q := call{verb: "x", repeatable: true, timeout: 20 * time.Second, tryTimeout: lostAfter + 50*time.Millisecond}
	for range 2 {
		if err := c.exchange(t.Context(), q, &struct{}{}); err != nil {
			t.Fatal(err)
		}
	}
	if n := asked.Load(); n != 3 {
		t.Errorf("all nodes were asked %d times", n)
	}
}
