// Package plainhttp has what all HTTP clients of Carillon share, apart from the targets of jobs: a transport whose answers end.
//
// A server may answer a request by 101 Switching Protocols, although the request asks for no other protocol. The transport of net/http then
// gives the connection away as the body of the answer, and neither the context of the request nor the timeout of the client ends a
// read of it. So a client that reads such a body waits for as long as the server keeps the connection.
package plainhttp

import (
	"errors"
	"net/http"
)

// ErrSwitches says that a server has answered in another protocol.
var ErrSwitches = errors.New("HTTP 101 Switching Protocols: the server changes to another protocol; want an answer in HTTP")

// Transport passes requests on, and refuses the answer 101 with [ErrSwitches], after it has closed the connection. Make one with Over.
type Transport struct{ next http.RoundTripper }

// Over returns a transport that refuses what another one must not pass on. It is as safe for concurrent use as the other one.
func Over(next http.RoundTripper) *Transport { return &Transport{next} }

// RoundTrip implements [http.RoundTripper].
func (t *Transport) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := t.next.RoundTrip(req)
	if err != nil || resp.StatusCode != http.StatusSwitchingProtocols {
		return resp, err
	}
	_ = resp.Body.Close()
	return nil, ErrSwitches
}

// CloseIdleConnections closes the connections of the other transport that no request uses. [http.Client] looks for it.
func (t *Transport) CloseIdleConnections() {
	if c, ok := t.next.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}
