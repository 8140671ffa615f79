package web

import (
	"bufio"
	"fmt"
	"github.com/carillon-io/carillon/api/apitest"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/carillon-io/carillon/testkit"
)

// hall is a server with few seats.
type hall struct {
	t        *testing.T
	listener *listener
	addr     string
	logged   atomic.Int64    // lines of the log
	under    chan struct{}   // a request to /hold is answered when something comes of it
	done     <-chan struct{} // or when this is closed
}

func startHall(t *testing.T, seats int, silence, idle time.Duration) *hall {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	h := &hall{t: t, addr: l.Addr().String(), under: make(chan struct{}), done: t.Context().Done()}
	mux := http.NewServeMux()
	mux.HandleFunc("/hold", func(http.ResponseWriter, *http.Request) {
		select {
		case <-h.under:
		case <-h.done:
		}
	})
	mux.HandleFunc("/", func(rw http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(rw, "here") })
	server := &http.Server{Handler: mux, ReadHeaderTimeout: time.Minute}
	logger := slog.New(slog.NewTextHandler(writerFunc(func(p []byte) (int, error) {
		h.logged.Add(1)
		return len(p), nil
	}), nil))
	h.listener = LimitConnections(server, elsewhere{l}, seats, lineMax, logger).(*listener)
	h.listener.silenceMax, h.listener.idleMax = silence, idle
	var serving sync.WaitGroup
	serving.Go(func() { _ = server.Serve(h.listener) })
	t.Cleanup(func() {
		_ = server.Close()
		serving.Wait()
	})
	return h
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

// enter opens a connection, which says nothing yet.
func (h *hall) enter() net.Conn {
	h.t.Helper()
	return h.enterFrom("127.0.0.1")
}

// enterFrom is enter from an address of loopback, which the server takes for another machine if it is not 127.0.0.1.
func (h *hall) enterFrom(ip string) net.Conn {
	h.t.Helper()
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(ip)}}
	conn, err := d.DialContext(h.t.Context(), "tcp", h.addr)
	if err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() { conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(apitest.Patience)); err != nil {
		h.t.Fatal(err)
	}
	return conn
}

// ask sends a request, and reports whether it is answered before the connection ends.
func (h *hall) ask(conn net.Conn, path string) bool {
	_, err := fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", path)
	if err != nil {
		return false
	}
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return false
	}
	body, err := io.ReadAll(res.Body)
	res.Body.Close()
	return err == nil && (string(body) == "here" || path == "/hold")
}

// holds reports whether so many connections have a seat, and so many of them have no request.
func (h *hall) holds(seats, unused int) bool {
	h.listener.mu.Lock()
	defer h.listener.mu.Unlock()
	s := &h.listener.seats
	return s.taken == seats && s.silent.Len()+s.idle.Len() == unused
}

const never = time.Hour

// TestFullHall opens as many connections as are allowed. A further one waits until one of them ends.
func TestFullHall(t *testing.T) {
	h := startHall(t, 3, never, never)
	inside := []net.Conn{h.enter(), h.enter(), h.enter()}
	for _, conn := range inside {
		if !h.ask(conn, "/") {
			t.Fatal("a connection with a seat is not answered")
		}
	}
	waiting := h.enter()
	answered := make(chan bool, 1)
	go func() { answered <- h.ask(waiting, "/") }()
	for range 20 { // those inside are answered all the while
		if !h.ask(inside[0], "/") {
			t.Fatal("a connection with a seat lost it")
		}
	}
	select {
	case <-answered:
		t.Error("a connection was answered without a seat")
	default:
	}
	inside[1].Close()
	if !<-answered {
		t.Error("there is a seat, and the connection that waits does not get it")
	}
	if n := h.logged.Load(); n != 1 {
		t.Errorf("%d lines were logged", n)
	}
}

// TestSilentGuestsMakeRoom fills the listener with connections that never send a request: they are closed, oldest
// first, and connections that have been answered stay.
func TestSilentGuestsMakeRoom(t *testing.T) {
	h := startHall(t, 4, 10*time.Millisecond, never)
	known := h.enter()
	if !h.ask(known, "/") {
		t.Fatal("the first guest is not answered")
	}
	for range 50 {
		h.enter()
	}
	if newcomer := h.enter(); !h.ask(newcomer, "/") {
		t.Error("silent guests kept one out who had a request")
	}
	if !h.ask(known, "/") {
		t.Error("silent guests drove one out who had asked")
	}
}

// TestIdleGuestsMakeRoom fills the hall with connections that asked once: the one that asked longest ago goes.
func TestIdleGuestsMakeRoom(t *testing.T) {
	h := startHall(t, 2, never, 10*time.Millisecond)
	first := h.enter()
	if !h.ask(first, "/") {
		t.Fatal("the first guest is not answered")
	}
	for range 20 {
		if !h.ask(h.enter(), "/") {
			t.Fatal("idle guests kept one out who had a request")
		}
	}
	if h.ask(first, "/") {
		t.Error("the one who asked longest ago has his seat still")
	}
}

// TestBusyGuestsStay checks that a connection with a request in progress is never closed, however long it takes.
func TestBusyGuestsStay(t *testing.T) {
	h := startHall(t, 2, time.Millisecond, time.Millisecond)
	done := make(chan bool, 2)
	for range cap(done) {
		conn := h.enter()
		go func() { done <- h.ask(conn, "/hold") }()
	}
	testkit.Until(h.t, "both requests are under way", func() bool { return h.holds(2, 0) })
	newcomer := make(chan bool, 1)
	conn := h.enter()
	go func() { newcomer <- h.ask(conn, "/") }()
	for range cap(done) {
		h.under <- struct{}{}
		if !<-done {
			t.Error("a connection was closed under its request")
		}
	}
	if !<-newcomer {
		t.Error("the newcomer is not answered")
	}
}

// TestSeatsComeBack: whatever ends a connection, its seat is free again, once.
func TestSeatsComeBack(t *testing.T) {
	h := startHall(t, 8, never, never)
	for i := range 200 {
		conn := h.enter()
		switch i % 4 {
		case 1:
			h.ask(conn, "/")
		case 2:
			_, _ = io.WriteString(conn, "nonsense\r\n\r\n")
			_, _ = io.Copy(io.Discard, conn)
		case 3:
			_ = conn.(*net.TCPConn).SetLinger(0) // it is reset
			_, _ = io.WriteString(conn, "GET / HT")
		}
		conn.Close()
	}
	testkit.Until(h.t, "all seats are free", func() bool { return h.holds(0, 0) })
}

// TestHallCloses closes the listener while it is full and a connection waits.
func TestHallCloses(t *testing.T) {
	h := startHall(t, 1, never, never)
	if !h.ask(h.enter(), "/") {
		t.Fatal("the guest is not answered")
	}
	h.enter()
	testkit.Until(h.t, "the log says that no seat is free", func() bool { return h.logged.Load() > 0 })
	if err := h.listener.Close(); err != nil {
		t.Error(err)
	}
	if _, err := h.listener.Accept(); err == nil || !strings.Contains(err.Error(), "closed") {
		t.Errorf("Accept after Close: %v", err)
	}
}

// TestCloseAtTheStart closes listeners while the server begins to accept. It is for the race detector.
func TestCloseAtTheStart(t *testing.T) {
	for range 200 {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		server := &http.Server{Handler: http.NotFoundHandler(), ReadHeaderTimeout: time.Minute}
		limited := LimitConnections(server, l, 4, 4, slog.New(slog.DiscardHandler))
		var serving sync.WaitGroup
		serving.Go(func() { _ = server.Serve(limited) })
		if err := limited.Close(); err != nil {
			t.Fatal(err)
		}
		_ = server.Close()
		serving.Wait()
	}
}
