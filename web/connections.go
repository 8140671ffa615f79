package web

import (
	"container/list"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"
)

// After how long without a request a connection may be closed in favour of a new one, when the bound of connections
// is reached: for a connection that never sent a request, and for one that has.
const (
	// A program that connects in order to ask sends its request within that time, also over a slow network; a
	// browser that opens a connection in advance opens another when it needs one.
	silenceMax = time.Second
	// A client that keeps connections for the next request loses one after this only if all places are in use; it
	// then connects anew.
	idleMax = 10 * time.Second
)

// roomEvery is the shortest time between two connections that are closed for new ones. It keeps a crowd of
// connections from using the processor time that due launches need.
const roomEvery = time.Millisecond

// fullLoggedEvery is the shortest time between two log lines about the bound.
const fullLoggedEvery = time.Minute

// LimitConnections returns a listener for [http.Server.Serve] that keeps at most the given number of connections
// open. It sets the server's ConnState, and must be called before Serve.
//
// At the bound, the listener accepts no connection until another ends. New ones wait in the operating system, which
// refuses them when its queue is full. To make room, the listener closes connections that hold a place without using
// it: first the one that has waited longest without ever sending a request, after a second at least; then the one
// whose last request is longest ago, after ten seconds at least; at most a thousand a second. It never closes a
// connection with a request in progress, which the server's time limits bound. A bound without closing would let a
// caller that opens connections and sends nothing keep all others out. A refusal with a reply is no alternative: it
// needs a connection too. A listener with TLS goes around this one, so that a connection has its seat, and is silent,
// from before the handshake.
func LimitConnections(server *http.Server, l net.Listener, most int, logger *slog.Logger) net.Listener {
	y := &listener{
		Listener: l, seats: make(chan struct{}, most), closing: make(chan struct{}), logger: logger,
		silenceMax: silenceMax, idleMax: idleMax,
	}
	server.ConnState = y.note
	return y
}

// listener is a net.Listener with a seat for each connection that may be open. silent holds connections that never
// had a request, idle those between two requests. Both are in the order in which the connections joined, so the first
// of a list has waited longest and no list is searched.
//
// Invariant: seats has one element for each connection that Accept returned and that is not closed, and at most one
// more.
type listener struct {
	net.Listener
	seats chan struct{} // one for each connection, and one for the next while Accept waits for it
	// closing ends the wait of Accept at a shutdown, when no connection may end for a long time.
	closing chan struct{}
	// ending closes closing once, since a server may close its listener more than once.
	ending sync.Once
	logger *slog.Logger

	// The two are the constants, and shorter in tests.
	silenceMax, idleMax time.Duration

	// mu is held for a few operations on lists, never for I/O.
	mu           sync.Mutex
	silent, idle list.List // of *connection; the one without a request for longest is first
	loggedAt     time.Time // when the last log line was written that no seat is free
	sent         int       // connections that were closed since then
}

// connection is a connection with a seat. Invariant: among is nil exactly while place is nil. A closed connection
// stays closed in the lists too: Close removes it before it frees the seat, so that longest cannot return it.
type connection struct {
	net.Conn
	listener *listener
	// ended frees the seat once.
	ended sync.Once

	// Guarded by the listener's mutex.
	among *list.List // the list that it is in while it has no request; nil: it has one
	place *list.Element
	since time.Time // when it joined that list
}

// Accept implements net.Listener. The seat is taken before the connection is accepted, so that there is never one
// more connection than seats.
func (y *listener) Accept() (net.Conn, error) {
	if err := y.takeSeat(); err != nil {
		return nil, err
	}
	conn, err := y.Listener.Accept()
	if err != nil {
		<-y.seats
		return nil, err
	}
	return &connection{Conn: conn, listener: y}, nil
}

// Close implements net.Listener. Further calls do nothing.
func (y *listener) Close() (err error) {
	y.ending.Do(func() {
		close(y.closing)
		err = y.Listener.Close()
	})
	return err
}

// takeSeat waits for a free seat, and closes idle connections meanwhile. Only Accept calls it, from the one goroutine
// that serves the listener, so its pauses delay nothing but further connections.
func (y *listener) takeSeat() error {
	for {
		select {
		case y.seats <- struct{}{}:
			return nil
		default:
		}
		now := time.Now()
		y.log(now)
		g, wait := y.longest(now)
		if g != nil {
			_ = g.Close()
			time.Sleep(roomEvery)
			continue
		}
		timer := time.NewTimer(wait)
		select {
		// A connection has ended by itself.
		case y.seats <- struct{}{}:
			timer.Stop()
			return nil
		case <-y.closing:
			timer.Stop()
			return net.ErrClosed
		case <-timer.C:
		}
	}
}

// longest returns the connection to be closed first. If none may be closed now it returns nil, and how long to wait
// at most before the next check. It takes the connection from its list under the lock, so that no connection is
// returned twice. The server may begin to read a request from it at that moment; the caller then sees a closed
// connection, as it may at the end of any idle time.
func (y *listener) longest(now time.Time) (*connection, time.Duration) {
	y.mu.Lock()
	defer y.mu.Unlock()
	wait := min(y.silenceMax, y.idleMax) // for those that have a request now
	for _, of := range [...]struct {
		list *list.List
		most time.Duration
	}{{&y.silent, y.silenceMax}, {&y.idle, y.idleMax}} {
		first := of.list.Front()
		if first == nil {
			continue
		}
		g := first.Value.(*connection)
		left := of.most - now.Sub(g.since)
		if left <= 0 {
			y.moveLocked(g, nil)
			y.sent++
			return g, 0
		}
		wait = min(wait, left)
	}
	return nil, wait
}

// log logs that no seat is free, at most once each fullLoggedEvery. A line for each refused connection would fill the
// log of a server that is flooded.
func (y *listener) log(now time.Time) {
	y.mu.Lock()
	due, sent := y.loggedAt.IsZero() || now.Sub(y.loggedAt) >= fullLoggedEvery, y.sent
	if due {
		y.loggedAt, y.sent = now, 0
	}
	y.mu.Unlock()
	if due {
		y.logger.Warn("HTTP has as many connections as it may have: further ones wait, and those without a request are closed (--http-connections)",
			slog.Int("connections", cap(y.seats)), slog.Int("closed", sent))
	}
}

// note records the state of a connection, as [http.Server.ConnState]. A connection that is active, hijacked or closed
// is in no list, and so never closed from here. The server calls it from the goroutine of each connection, before
// and after every request, so it only moves an element between two lists.
func (y *listener) note(conn net.Conn, state http.ConnState) {
	if secured, ok := conn.(interface{ NetConn() net.Conn }); ok {
		conn = secured.NetConn() // TLS over a connection with a seat
	}
	g, ok := conn.(*connection)
	if !ok {
		return
	}
	y.mu.Lock()
	defer y.mu.Unlock()
	switch state {
	case http.StateNew:
		y.moveLocked(g, &y.silent)
	case http.StateIdle:
		y.moveLocked(g, &y.idle)
	default:
		y.moveLocked(g, nil)
	}
}

// moveLocked removes a connection from the list that it is in, and appends it to another; nil means to none. It also
// notes the time, so that a list is always in the order of its times.
func (y *listener) moveLocked(g *connection, to *list.List) {
	if g.among != nil {
		g.among.Remove(g.place)
	}
	if g.among, g.place = to, nil; to != nil {
		g.place, g.since = to.PushBack(g), time.Now()
	}
}

// Close implements net.Conn. It frees the seat. The seat is freed once, because the server, the listener and a
// shutdown may all close a connection.
func (g *connection) Close() error {
	err := g.Conn.Close()
	g.ended.Do(func() {
		g.listener.mu.Lock()
		g.listener.moveLocked(g, nil)
		g.listener.mu.Unlock()
		<-g.listener.seats
	})
	return err
}

// CloseWrite lets the server close its half first, so that the client reads a refusal before the connection is reset.
func (g *connection) CloseWrite() error {
	if half, ok := g.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}
