package client

import (
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
)

// TestSilence loses the answer to the first request, as a leader does that dies with it. What may be
// repeated is sent again after the time of a try; the rest waits for its answer to the end.
func TestSilence(t *testing.T) {
	s, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: server.RANDOM_PORT, NoSigs: true, NoLog: true})
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	defer s.Shutdown()
	if !s.ReadyForConnections(10 * time.Second) {
		t.Fatal("NATS did not become ready")
	}
	nc, err := nats.Connect(s.ClientURL())
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	var asked atomic.Int32
	_, err = nc.Subscribe("carillon.>", func(msg *nats.Msg) {
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
