package api

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/carillon-io/carillon/client"
)

// TestDeafCallers asks for more than a connection takes without being read, and reads nothing. The connection ends
// in time, what it held of replies is free again, and others are answered meanwhile.
func TestDeafCallers(t *testing.T) {
	s, _ := startService(t, startEngine(t), Options{}, 4<<20)
	var h *web
	w := startWeb(t, HTTPOptions{Service: func() *Service { return s }}, func(server *http.Server) {
		server.WriteTimeout = 1500 * time.Millisecond
		h = server.Handler.(*web)
	})
	payload := `"` + strings.Repeat("x", 200<<10) + `"`
	for i := range 20 {
		if got := w.ask("PUT", fmt.Sprint("/api/v1/jobs/", i), jobWith("name", "-", "payload", payload)); got.status != 201 {
			t.Fatalf("%d %.200s", got.status, got.body)
		}
	}
	var deaf []net.Conn
	for range 2 {
		conn, err := net.Dial("tcp", w.server.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		deaf = append(deaf, conn)
		if _, err := io.WriteString(conn, strings.Repeat("GET /api/v1/jobs HTTP/1.1\r\nHost: x\r\n\r\n", 20)); err != nil {
			t.Fatal(err)
		}
	}
	end := time.Now().Add(patience)
	for h.replies.bytes.Load() == 0 {
		if time.Now().After(end) {
			t.Fatal("no reply waits for its caller")
		}
		time.Sleep(time.Millisecond)
	}
	if got := w.ask("GET", "/api/v1/jobs/1", ""); got.status != 200 {
		t.Errorf("another caller meanwhile: %d %.200s", got.status, got.body)
	}
	for _, conn := range deaf { // the rest comes, and then the end, before all of it has come
		if err := conn.SetReadDeadline(end); err != nil {
			t.Fatal(err)
		}
		for h.replies.bytes.Load() > 0 && time.Now().Before(end) {
			time.Sleep(time.Millisecond)
		}
		n, err := io.Copy(io.Discard, conn)
		if ne, ok := err.(net.Error); ok && ne.Timeout() || n > 70<<20 {
			t.Errorf("the connection was not ended: %d bytes, %v", n, err)
		}
	}
	if n := h.replies.bytes.Load(); n != 0 {
		t.Errorf("%d bytes of replies are kept", n)
	}
}

// TestReplyBudget uses up what replies may take. Reads are refused, and a change that was made is told.
func TestReplyBudget(t *testing.T) {
	s, _ := startService(t, startEngine(t), Options{}, 0)
	var h *web
	w := startWeb(t, HTTPOptions{Service: func() *Service { return s }}, func(server *http.Server) { h = server.Handler.(*web) })
	if !h.replies.take(httpRepliesBytes, false) {
		t.Fatal("the budget is used up from the beginning")
	}
	w.ask("GET", "/api/v1/jobs", "").refused(t, "a list", 429, client.CodeRateLimited, "")
	if got := w.ask("PUT", "/api/v1/jobs/a", jobWith("name", "-")); got.status != 201 {
		t.Errorf("a change: %d %s", got.status, got.body)
	}
	if got := w.ask("GET", "/api/v1/status", ""); got.status != 200 {
		t.Errorf("the status: %d %s", got.status, got.body)
	}
	h.replies.give(httpRepliesBytes)
	if got := w.ask("GET", "/api/v1/jobs", ""); got.status != 200 {
		t.Errorf("a list after that: %d %s", got.status, got.body)
	}
}
