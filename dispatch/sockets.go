package dispatch

import (
	"context"
	"fmt"
	"net"
	"sync"
	"time"
)

// sockets bounds the connections to HTTP targets, used and idle, of all transports together: each is an open file, and the log and
// the store must always be able to open one. Safe for concurrent use.
type sockets struct {
	taken     chan struct{} // has one element for each connection
	closeIdle func()        // closes the connections that no request uses, also those that are being made
}

// socketsError says that a target cannot be reached because all connections are in use.
type socketsError struct{ most int }

// Error implements error.
func (e socketsError) Error() string {
	return fmt.Sprintf("all %d connections to HTTP targets are in use; raise the limit of open files (ulimit -n) of the server, or have fewer attempts at a time", e.most)
}

// dialer is a way to connect.
type dialer func(ctx context.Context, network, address string) (net.Conn, error)

// bounded returns a way to connect that waits for a socket.
func (s *sockets) bounded(dial dialer) dialer {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		if err := s.take(ctx); err != nil {
			return nil, err
		}
		conn, err := dial(ctx, network, address)
		if err != nil {
			s.giveBack()
			return nil, err
		}
		return &socket{Conn: conn, giveBack: sync.OnceFunc(s.giveBack)}, nil
	}
}

// roomEvery is the time between two looks for connections that have become idle, while a dial waits for a socket.
const roomEvery = 50 * time.Millisecond

// take takes a socket. If there is none, it closes the idle connections, and waits until ctx ends, for dialTimeout at most. Closing them
// also ends the dials whose attempts have ended: net/http goes on with such a dial, so a target that accepts no connection would hold
// sockets for longer than its attempts.
func (s *sockets) take(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	select {
	case s.taken <- struct{}{}:
		return nil
	default:
	}
	for {
		s.closeIdle()
		select {
		case s.taken <- struct{}{}:
			return nil
		case <-ctx.Done():
			return socketsError{cap(s.taken)}
		case <-time.After(roomEvery):
		}
	}
}

func (s *sockets) giveBack() { <-s.taken }

// socket is a connection that counts.
type socket struct {
	net.Conn
	giveBack func()
}

// Close implements net.Conn.
func (s *socket) Close() error {
	err := s.Conn.Close()
	s.giveBack()
	return err
}
