package server_test

import (
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-io/carillon/server"
	"github.com/carillon-io/carillon/testkit"
)

// TestFloodOfBytes: one tenant sends requests over the limit as fast as it can, without waiting for replies, and has
// clients that read nothing. Another tenant gets a reply to each of its requests, at the first try.
func TestFloodOfBytes(t *testing.T) {
	said := &testkit.Buffer{}
	e := startEstate(t, func(o *server.Options) { o.Logger = slog.New(slog.NewTextHandler(said, nil)) })
	for range 10 {
		r := dialRaw(t, e.Ready().NATS, `"auth_token":"billing-operator"`)
		r.send("SUB unread 1\r\n")
	}
	large := []byte(`{"name":"large","schedule":"@daily","target":{"kind":"nats","subject":"a"},"payload":"` + strings.Repeat("x", 300<<10) + `"}`)
	var loud []*nats.Conn
	for range 64 {
		loud = append(loud, e.as("billing-operator", nats.NoReconnect()))
	}
	var flood sync.WaitGroup
	for _, nc := range loud {
		flood.Go(func() {
			inbox := nats.NewInbox()
			for range 25 { // an error means that it was disconnected, which is an end as well
				_ = nc.PublishRequest("carillon.v1.billing.jobs.put", inbox, large)
			}
			_ = nc.Publish("unread", large)
			_ = nc.Flush()
		})
	}
	over := make(chan struct{})
	go func() {
		flood.Wait()
		close(over)
	}()
	other, n := e.as("stock-operator"), 0
	for isOver := false; !isOver || n < 20; n++ {
		body := fmt.Sprintf(`{"name":"beside-%d","schedule":"@yearly","target":{"kind":"nats","subject":"x"}}`, n)
		m, err := other.Request("carillon.v1.stock.jobs.put", []byte(body), 10*time.Second)
		if err != nil || m.Header.Get("Nats-Service-Error") != "" {
			t.Fatalf("request %d of the other tenant: %v, %v", n, m, err)
		}
		select {
		case <-over:
			isOver = true
		default:
		}
	}
	if text := said.String(); strings.Contains(text, "carillon api") && strings.Contains(text, "lost the connection") {
		t.Errorf("the server lost a connection of its own: %s", text)
	}
}
