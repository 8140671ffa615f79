package web

import (
	"container/list"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"
)

// After how long without a request a connection may be closed in favour of a new one, when no place is free for that: for
// a connection that never sent a request, and for one that has.
const (
	// A program that connects in order to ask sends its request within that time, also over a slow network; a
	// browser that opens a connection in advance opens another when it needs one.
	silenceMax = time.Second
	// A client that keeps connections for the next request loses one after this only if its places are in use; it
	// then connects anew.
	idleMax = 10 * time.Second
)

// The shortest times between two connections that are closed for new ones, and between two that are dropped because the
// line is full. They keep a crowd of connections from using the processor time that due launches need.
const (
	roomEvery = time.Millisecond
	dropEvery = 250 * time.Microsecond
)

// fullLoggedEvery is the shortest time between two log lines about the bound.
const fullLoggedEvery = time.Minute

// LimitConnections returns a listener for [http.Server.Serve] that keeps at most the given number of connections
// open, at most so many further ones in a line, and one that it has accepted and not yet put into the line. It sets the
// server's ConnState, and must be called before Serve.
//
// Each connection that is served has a seat. The addresses from which connections come share the seats: an address gets
// a further one only while it has fewer than three times as many as are free. So one address alone fills three quarters,
// and the others always find a seat; see seats.go.
//
// A connection for which there is no seat waits in the line. To make room, the listener closes connections that hold a
// seat without using it, of the same address or of one that has more seats: first one that has waited longest without
// ever sending a request, after a second at least; then one whose last request is longest ago, after ten seconds at
// least; at most a thousand a second. It never closes a connection with a request in progress, which the server's time
// limits bound. When the line is full, the newest connection in it of the address with most connections is dropped. A
// refusal with a reply is no alternative: it needs a seat too. A listener with TLS goes around this one, so that a
// connection has its seat, and is silent, from before the handshake.
func LimitConnections(server *http.Server, l net.Listener, most, line int, logger *slog.Logger) net.Listener {
	y := &listener{
		Listener: l, closing: make(chan struct{}), arrivals: make(chan arrival), freed: make(chan struct{}, 1), logger: logger,
		silenceMax: silenceMax, idleMax: idleMax, seats: seats{most: most, lineMost: line, sources: make(map[sourceKey]*source)},
	}
	server.ConnState = y.note
	return y
}

// listener is a net.Listener with a seat for each connection that may be open.
type listener struct {
	net.Listener
	// closing ends all waiting at a shutdown.
	closing  chan struct{}
	ending   sync.Once // closes closing, since a server may close its listener more than once
	starting sync.Once // starts receive with the first Accept
	// receiving ends when receive does.
	receiving sync.WaitGroup
	arrivals  chan arrival  // from receive to Accept
	freed     chan struct{} // has an element if a seat became free since Accept looked
	logger    *slog.Logger

	// The two are the constants, and shorter in tests.
	silenceMax, idleMax time.Duration

	// mu is held for a few operations on lists, never for I/O.
	mu       sync.Mutex
	seats    seats
	isClosed bool      // nothing joins the line any more, and receive does not start
	roomAt   time.Time // when a connection was last closed for another
	loggedAt time.Time // when the last log line was written that a connection waits
	// closed and dropped count since then: connections that were closed for others, and connections that were dropped.
	closed, dropped int
}

// arrival is what the listener below returned.
type arrival struct {
	conn net.Conn
	err  error
}

// connection is a connection that has a seat or waits for one.
type connection struct {
	net.Conn
	listener *listener
	source   *source

	// Guarded by the listener's mutex. Invariant: among is nil exactly while place is nil, and is nil without a seat.
	hasSeat bool
	among   *list.List // the list that it is in while it has no request; nil: it has one
	place   *list.Element
	since   time.Time // when it joined that list
}

// Accept implements net.Listener. It returns connections with a seat. Only the goroutine that serves the listener calls
// it, so its pauses delay nothing but further connections.
func (y *listener) Accept() (net.Conn, error) {
	y.starting.Do(y.start)
	for {
		next, wait := y.next(time.Now())
		if next != nil {
			return next, nil
		}
		timer := time.NewTimer(wait)
		select {
		case a := <-y.arrivals:
			timer.Stop()
			if a.err != nil {
				return nil, a.err
			}
			y.join(a.conn)
		case <-y.freed:
			timer.Stop()
		case <-timer.C:
		case <-y.closing:
			timer.Stop()
			return nil, net.ErrClosed
		}
	}
}

// start starts receive, unless the listener is closed already: Close waits for it, and must know whether there is one.
func (y *listener) start() {
	y.mu.Lock()
	defer y.mu.Unlock()
	if !y.isClosed {
		y.receiving.Go(y.receive)
	}
}

// receive hands what the listener below returns to Accept, until the listener is closed. It reads ahead by one
// connection, so the system's queue holds what the line does not. Between two errors it waits for the next Accept, which
// the server delays.
func (y *listener) receive() {
	for {
		conn, err := y.Listener.Accept()
		select {
		case y.arrivals <- arrival{conn, err}:
		case <-y.closing:
			if err == nil {
				_ = conn.Close()
			}
			return
		}
	}
}

// Close implements net.Listener. It closes the connections that wait. Further calls do nothing.
func (y *listener) Close() (err error) {
	y.ending.Do(func() {
		y.mu.Lock()
		y.isClosed = true
		y.mu.Unlock()
		close(y.closing)
		err = y.Listener.Close()
		y.receiving.Wait()
		y.mu.Lock()
		waiting := y.seats.empty()
		y.mu.Unlock()
		for _, g := range waiting {
			_ = g.Conn.Close()
		}
	})
	return err
}

// join puts a connection at the end of the line. If the line is full, it drops one.
func (y *listener) join(conn net.Conn) {
	g := &connection{Conn: conn, listener: y}
	y.mu.Lock()
	var dropped *connection
	if y.isClosed {
		dropped = g
	} else if dropped = y.seats.join(g, keyOf(conn.RemoteAddr())); dropped != nil {
		y.dropped++
	}
	y.mu.Unlock()
	if dropped != nil {
		_ = dropped.Conn.Close()
		time.Sleep(dropEvery)
	}
}

// next returns the connection that gets a seat now. If there is none it returns nil, and how long to wait at most before
// the next look. The connection that is closed for it may have begun to read a request at that moment; the caller then
// sees a closed connection, as it may at the end of any idle time.
func (y *listener) next(now time.Time) (next *connection, wait time.Duration) {
	y.mu.Lock()
	next, isFree := y.seats.first()
	if next == nil {
		y.mu.Unlock()
		return nil, idleMax // until one comes
	}
	if isFree {
		y.seats.seat(next)
		y.mu.Unlock()
		return next, 0
	}
	line := y.lineLocked(now, next.source)
	var leaves *connection
	if wait = roomEvery - now.Sub(y.roomAt); wait <= 0 {
		leaves, wait = y.seats.leaver(now, next.source, y.silenceMax, y.idleMax)
	}
	if leaves != nil {
		y.roomAt = now
		y.closed++
		y.seats.free(leaves)
		y.seats.seat(next)
	}
	y.mu.Unlock()
	y.log(line)
	if leaves == nil {
		return nil, wait
	}
	_ = leaves.Conn.Close()
	return next, 0
}

// lineLocked returns the values of a log line about a connection that waits; nil if the last line was less than
// fullLoggedEvery ago. A line for each connection would fill the log of a server that is flooded.
func (y *listener) lineLocked(now time.Time, of *source) []any {
	if !y.loggedAt.IsZero() && now.Sub(y.loggedAt) < fullLoggedEvery {
		return nil
	}
	values := []any{
		slog.Int("connections", y.seats.taken), slog.Int("of", y.seats.most), slog.Int("waiting", len(y.seats.line)),
		slog.String("first_from", of.key.String()), slog.Int("which_has", of.seats), slog.Int("closed", y.closed), slog.Int("dropped", y.dropped),
	}
	y.loggedAt, y.closed, y.dropped = now, 0, 0
	return values
}

func (y *listener) log(values []any) {
	if values != nil {
		y.logger.Warn("HTTP connections wait for a place: an address has its share, or all places are taken; those without a request are closed (--http-connections)", values...)
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
	if !g.hasSeat {
		return // it is being closed for another
	}
	switch state {
	case http.StateNew:
		y.seats.move(g, &y.seats.silent)
	case http.StateIdle:
		y.seats.move(g, &y.seats.idle)
	default:
		y.seats.move(g, nil)
	}
}

// Close implements net.Conn. It frees the seat, once: the server, the listener and a shutdown may all close a connection.
func (g *connection) Close() error {
	err := g.Conn.Close()
	g.listener.mu.Lock()
	defer g.listener.mu.Unlock()
	if g.hasSeat {
		g.listener.seats.free(g)
		select {
		case g.listener.freed <- struct{}{}:
		default: // Accept looks anyway
		}
	}
	return err
}

// CloseWrite lets the server close its half first, so that the client reads a refusal before the connection is reset.
func (g *connection) CloseWrite() error {
	if half, ok := g.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}
