package web

import (
	"io"
	"net/http"
	"time"
)

// bodyLeftBytes is the size from which no body of a refused request is read. A smaller one has mostly arrived, and reading
// it costs less than the next connection of a caller who asks again.
const bodyLeftBytes = 64 << 10

// leftMax is for how long what still comes of a body is read and thrown away after the reply. A connection that is closed
// while bytes come is reset, and the caller may then not get the reply.
const leftMax = 500 * time.Millisecond

// atOnce sends a refusal of its handler without waiting for the body of the request, and then ends the connection. The
// server of net/http would first read the rest of a body, to keep the connection: a caller without
// rights would hold a goroutine and a connection by sending slowly, and get no answer meanwhile. Every reply of a server
// passes through it, so it also says when to ask again, for each handler that writes a refusal.
type atOnce struct{ http.Handler }

// ServeHTTP implements [http.Handler].
func (h atOnce) ServeHTTP(rw http.ResponseWriter, req *http.Request) {
	if _, isWatched := rw.(*unreadReply); isWatched {
		h.Handler.ServeHTTP(rw, req)
		return
	}
	if req.ContentLength == 0 { // -1: the length is unknown
		h.Handler.ServeHTTP(&unreadReply{ResponseWriter: rw, isWhole: true}, req)
		return
	}
	u := &unread{ResponseWriter: rw, body: req.Body, isLarge: req.ContentLength < 0 || req.ContentLength >= bodyLeftBytes}
	req.Body = u
	h.Handler.ServeHTTP((*unreadReply)(u), req)
	req.Body = u.body // the server looks there for what is left of it
	if u.isLeft {
		_ = http.NewResponseController(rw).SetReadDeadline(time.Now().Add(leftMax)) // an error means that it is no connection
	}
}

// unread is a request whose body may not have been read when the reply begins. It is the body of the request, and as
// unreadReply the writer of its reply. It belongs to the goroutine of the request.
type unread struct {
	http.ResponseWriter
	body    io.ReadCloser
	isLarge bool // the body has bodyLeftBytes or more, or an unknown length
	isWhole bool // the body has been read to its end
	isBegun bool // the head of the reply has been written
	isLeft  bool // the connection ends with the reply
}

// Read implements [io.Reader].
func (u *unread) Read(p []byte) (int, error) {
	n, err := u.body.Read(p)
	u.isWhole = u.isWhole || err == io.EOF
	return n, err
}

// Close implements [io.Closer].
func (u *unread) Close() error { return u.body.Close() }

// unreadReply is the writer of the reply of an unread request.
type unreadReply unread

// Unwrap is for [http.ResponseController].
func (u *unreadReply) Unwrap() http.ResponseWriter { return u.ResponseWriter }

// WriteHeader implements [http.ResponseWriter]. A refusal that may pass is mostly one of a caller with rights, who asks
// again over the same connection. It has Retry-After, that of its writer if there is one.
func (u *unreadReply) WriteHeader(code int) {
	if !u.isBegun && code >= http.StatusOK {
		u.isBegun = true
		if mayPass(code) && u.Header().Get("Retry-After") == "" {
			u.Header().Set("Retry-After", retryAfter)
		}
		if !u.isWhole && (!mayPass(code) || u.isLarge) && http.NewResponseController(u.ResponseWriter).EnableFullDuplex() == nil {
			u.isLeft = true
			u.Header().Set("Connection", "close")
		}
	}
	u.ResponseWriter.WriteHeader(code)
}

// Write implements [http.ResponseWriter].
func (u *unreadReply) Write(p []byte) (int, error) {
	if !u.isBegun {
		u.WriteHeader(http.StatusOK)
	}
	return u.ResponseWriter.Write(p)
}
