package web

import (
	"net/http"
	"sync"
	"time"
)

// How a reply is sent: in parts, each with a time within which the caller must read it. At a shutdown, a slow caller
// has this long for all that is left.
const (
	sendPartBytes = 64 << 10
	sendPartMax   = 5 * time.Second
	sendLastMax   = time.Second
)

// sends tracks the replies that are being written to their connections. The zero value is ready. Safe for concurrent
// use. The server's WriteTimeout alone would not do: it is the same for a caller that reads slowly and for one that
// reads nothing.
//
// Invariant: begun has an entry for each reply between begin and end.
type sends struct {
	// mu guards the fields, and orders a deadline that is set by shut after one that is set by begin.
	mu    sync.Mutex
	begun map[*http.ResponseController]time.Time // when each must be finished; zero: only the server's own bounds
	ends  time.Time                              // when all must be finished; zero: no shutdown
}

// begin allows a reply to be written within the given time; 0 means the server's own bound. The caller must call end.
func (s *sends) begin(conn *http.ResponseController, most time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.begun == nil {
		s.begun = make(map[*http.ResponseController]time.Time)
	}
	s.begun[conn] = time.Time{}
	if most > 0 {
		s.begun[conn] = time.Now().Add(most)
	}
	s.extendLocked(conn)
}

// extend gives the next part of a reply its time.
func (s *sends) extend(conn *http.ResponseController) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.extendLocked(conn)
}

// extendLocked sets the deadline of the next part: the earliest of the time for the part, the time for the whole
// reply, and the end of the shutdown.
func (s *sends) extendLocked(conn *http.ResponseController) {
	until := s.ends
	// A handler that writes by itself has no end of its own: it only gets that of the shutdown.
	if over := s.begun[conn]; !over.IsZero() {
		until = earlier(over, time.Now().Add(sendPartMax))
		if !s.ends.IsZero() {
			until = earlier(until, s.ends)
		}
	}
	if !until.IsZero() {
		_ = conn.SetWriteDeadline(until) // an error means that it has no deadlines, so it is not a connection
	}
}

// earlier returns the earlier of two instants.
func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// end forgets a reply that is written or has failed. Every begin has one end, also after a failed write; otherwise
// a shutdown would set deadlines of connections that serve another request.
func (s *sends) end(conn *http.ResponseController) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.begun, conn)
}

// shut ends all sends soon, also those that begin later, so that callers who do not read do not delay the shutdown.
func (s *sends) shut() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ends = time.Now().Add(sendLastMax)
	for conn := range s.begun {
		s.extendLocked(conn)
	}
}

// guard runs a handler that writes by itself, until a shutdown ends it. The handler may set deadlines of its own
// while there is no shutdown, as a stream of a page does.
func (s *sends) guard(h http.Handler, rw http.ResponseWriter, req *http.Request) {
	conn := http.NewResponseController(rw)
	s.begin(conn, 0)
	defer s.end(conn)
	h.ServeHTTP(rw, req)
}

// write sends the body of a reply with the given status. It returns when the operating system has accepted the whole
// body, or when the caller was too slow.
func (s *sends) write(rw http.ResponseWriter, code int, body ...[]byte) {
	conn := http.NewResponseController(rw)
	s.begin(conn, writeTimeout)
	defer s.end(conn)
	rw.WriteHeader(code)
	for _, part := range body { // part by part: many replies may share a body
		for len(part) > 0 {
			n := min(len(part), sendPartBytes)
			if _, err := rw.Write(part[:n]); err != nil {
				return // the caller is gone or does not read
			}
			part = part[n:]
			s.extend(conn)
		}
	}
	_ = conn.Flush()
}
