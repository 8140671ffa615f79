package web

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/carillon-io/carillon/api"
	"github.com/carillon-io/carillon/api/apitest"
	"github.com/carillon-io/carillon/testkit"
)

// putLarge registers so many jobs whose payloads have 200 KB.
func (w *webWorld) putLarge(jobs int) {
	w.t.Helper()
	payload := `"` + strings.Repeat("x", 200<<10) + `"`
	for i := range jobs {
		if got := w.ask("PUT", fmt.Sprint("/api/v1/jobs/", i), apitest.JobWith("name", "-", "payload", payload)); got.status != 201 {
			w.t.Fatalf("%d %.200s", got.status, got.body)
		}
	}
}

// deaf connects, asks so often for a list, and reads nothing of what comes.
func (w *webWorld) deaf(times int) net.Conn {
	w.t.Helper()
	conn, err := net.Dial("tcp", w.server.Listener.Addr().String())
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { conn.Close() })
	if _, err := io.WriteString(conn, strings.Repeat("GET /api/v1/jobs HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", times)); err != nil {
		w.t.Fatal(err)
	}
	return conn
}

// sending returns how many replies are being sent.
func (s *sends) sending() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.begun)
}

// TestDeafCallers asks for more than a connection takes without being read, and reads nothing. The connections end
// in time, what they held of replies is free again, and others are answered meanwhile.
func TestDeafCallers(t *testing.T) {
	s, _ := serve(t, apitest.StartEngine(t), api.Options{}, 4<<20)
	var h *gateway
	w := startWeb(t, Options{Executor: s.Executor}, func(server *http.Server) { h = server.Handler.(atOnce).Handler.(*gateway) })
	w.putLarge(20)
	deaf := []net.Conn{w.deaf(20), w.deaf(20)}
	testkit.Until(t, "two replies are being sent", func() bool { return h.sends.sending() == 2 })
	if got := w.ask("GET", "/api/v1/jobs/1", ""); got.status != 200 {
		t.Errorf("another caller meanwhile: %d %.200s", got.status, got.body)
	}
	testkit.Until(t, "the replies are cut off", func() bool { return h.sends.sending() == 0 && s.Executor().Counts().ReplyBytes == 0 })
	for _, conn := range deaf { // the rest comes, and then the end, before all of it has come
		if err := conn.SetReadDeadline(time.Now().Add(apitest.Patience)); err != nil {
			t.Fatal(err)
		}
		n, err := io.Copy(io.Discard, conn)
		if ne, ok := err.(net.Error); ok && ne.Timeout() || n > 70<<20 {
			t.Errorf("the connection was not ended: %d bytes, %v", n, err)
		}
	}
}

// TestDeafCallersHoldNoShutdown shuts down with a reply that its caller does not read.
func TestDeafCallersHoldNoShutdown(t *testing.T) {
	s, _ := serve(t, apitest.StartEngine(t), api.Options{}, 4<<20)
	var h *gateway
	w := startWeb(t, Options{Executor: s.Executor}, func(server *http.Server) { h = server.Handler.(atOnce).Handler.(*gateway) })
	w.putLarge(20)
	w.deaf(4)
	testkit.Until(t, "a reply is being sent", func() bool { return h.sends.sending() == 1 })
	ctx, cancel := context.WithTimeout(t.Context(), sendLastMax+2*time.Second)
	defer cancel()
	if err := s.Close(ctx); err != nil {
		t.Errorf("the service: %v", err)
	}
	if err := w.server.Config.Shutdown(ctx); err != nil {
		t.Errorf("the HTTP server: %v", err)
	}
}
