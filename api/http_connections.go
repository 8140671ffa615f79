package api

import (
	"container/list"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"
)

// How long a connection may have been without a request before it is closed in favour of a new one, once there are
// as many as may be: one that never asked for anything, and one that has.
const (
	httpSilenceMax = time.Second
	httpIdleMax    = 10 * time.Second
)

// roomEvery is the least time between two connections that are closed for new ones: a crowd that comes and goes is
// not to take the processor from what is due.
const roomEvery = time.Millisecond

// fullToldEvery is the least time between two lines of the log about it.
const fullToldEvery = time.Minute

// LimitConnections returns a listener for [http.Server.Serve] under which a server has at most so many connections
// open. It takes the server's ConnState, and is called before Serve.
//
// Once there are as many, nobody is accepted until one ends: those who come wait with the system, which refuses
// them in the end. Room is made by closing who keeps a place for nothing: the one that has been there longest
// without ever having asked for anything, a second at least, and then the one that asked longest ago, ten seconds
// at least; a thousand a second at most. A connection with a request under way is left alone; the server's time
// limits bound it.
func LimitConnections(server *http.Server, l net.Listener, most int, logger *slog.Logger) net.Listener {
	y := &lobby{
		Listener: l, seats: make(chan struct{}, most), closing: make(chan struct{}), logger: logger,
		silenceMax: httpSilenceMax, idleMax: httpIdleMax,
	}
	server.ConnState = y.note
	return y
}

// lobby is a listener with as many seats as there may be connections.
type lobby struct {
	net.Listener
	seats   chan struct{} // one for each connection, and for the next while it is awaited
	closing chan struct{}
	ending  sync.Once
	logger  *slog.Logger

	silenceMax, idleMax time.Duration

	mu           sync.Mutex
	silent, idle list.List // of *guest; who has been without a request longest is first
	told         time.Time // when the log was told that there is no seat left
	sent         int       // guests that were sent away since then
}

// guest is a connection with a seat.
type guest struct {
	net.Conn
	lobby *lobby
	ended sync.Once

	// Of the lobby's lock.
	among *list.List // those without a request that it is one of; nil: it has one
	place *list.Element
	since time.Time // when it joined them
}

// Accept implements net.Listener.
func (y *lobby) Accept() (net.Conn, error) {
	if err := y.takeSeat(); err != nil {
		return nil, err
	}
	conn, err := y.Listener.Accept()
	if err != nil {
		<-y.seats
		return nil, err
	}
	return &guest{Conn: conn, lobby: y}, nil
}

// Close implements net.Listener. A second one does nothing.
func (y *lobby) Close() (err error) {
	y.ending.Do(func() {
		close(y.closing)
		err = y.Listener.Close()
	})
	return err
}

// takeSeat waits for a seat, and sends those away who may be.
func (y *lobby) takeSeat() error {
	for {
		select {
		case y.seats <- struct{}{}:
			return nil
		default:
		}
		now := time.Now()
		y.tell(now)
		g, wait := y.longest(now)
		if g != nil {
			_ = g.Close()
			time.Sleep(roomEvery)
			continue
		}
		timer := time.NewTimer(wait)
		select {
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

// longest returns who is to be sent away first; nil if nobody is just now, and then how long to wait at most
// before it is asked again.
func (y *lobby) longest(now time.Time) (*guest, time.Duration) {
	y.mu.Lock()
	defer y.mu.Unlock()
	wait := min(y.silenceMax, y.idleMax) // for those who have a request now
	for _, of := range [...]struct {
		list *list.List
		most time.Duration
	}{{&y.silent, y.silenceMax}, {&y.idle, y.idleMax}} {
		first := of.list.Front()
		if first == nil {
			continue
		}
		g := first.Value.(*guest)
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

// tell says in the log that there is no seat left, not too often.
func (y *lobby) tell(now time.Time) {
	y.mu.Lock()
	tell, sent := y.told.IsZero() || now.Sub(y.told) >= fullToldEvery, y.sent
	if tell {
		y.told, y.sent = now, 0
	}
	y.mu.Unlock()
	if tell {
		y.logger.Warn("HTTP has as many connections as it may have: whoever comes waits, and those without a request are closed (--http-connections)",
			slog.Int("connections", cap(y.seats)), slog.Int("closed", sent))
	}
}

// note follows what becomes of a connection, as [http.Server.ConnState].
func (y *lobby) note(conn net.Conn, state http.ConnState) {
	g, ok := conn.(*guest)
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

// moveLocked puts a guest at the end of a list, and takes it off the one that it is in.
func (y *lobby) moveLocked(g *guest, to *list.List) {
	if g.among != nil {
		g.among.Remove(g.place)
	}
	if g.among, g.place = to, nil; to != nil {
		g.place, g.since = to.PushBack(g), time.Now()
	}
}

// Close implements net.Conn. It gives the seat back.
func (g *guest) Close() error {
	err := g.Conn.Close()
	g.ended.Do(func() {
		g.lobby.mu.Lock()
		g.lobby.moveLocked(g, nil)
		g.lobby.mu.Unlock()
		<-g.lobby.seats
	})
	return err
}

// CloseWrite lets the server end its half first, so that a refusal is read before the connection is reset.
func (g *guest) CloseWrite() error {
	if half, ok := g.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}
