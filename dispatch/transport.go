package dispatch

import (
	"crypto/tls"
	"net"
	"net/http"
	"time"

	"github.com/carillon-io/carillon/job"
)

const (
	dialTimeout         = 10 * time.Second // for the connection, and again for its TLS handshake; the attempt's timeout may be shorter
	idleConnTimeout     = 4 * time.Second  // shorter than the 5 s after which many servers close: a request that meets the end of its connection is a failed attempt
	idleConnsMax        = 2048             // each costs a file descriptor; beyond it connections are closed after use
	responseHeaderBytes = 64 << 10         // a longer header fails the attempt; with the default of InFlightMax, this bounds the memory for headers to 1 GiB

	// http2PingAfter is the silence after which an HTTP/2 connection is probed, and again the wait for the answer. So a dead connection is
	// noticed in ten seconds, whatever the timeouts of its attempts. Shorter would annoy servers that count pings.
	http2PingAfter = 5 * time.Second
	// http2WriteMax is the time after which an HTTP/2 connection is closed if the target takes no byte of what is written to it. All attempts on
	// a connection wait for a write that is stuck, even when they end, and a target that goes on sending never looks silent to the probes.
	http2WriteMax = 5 * time.Second
)

// newTransport returns a transport of http targets that share a reach and a client certificate; nil is none. It
// dials each target itself, with one of the sockets, with the guard's check, and never through a proxy, even if the environment names
// one: a proxy would dial addresses that the guard cannot check.
func newTransport(o Options, s *sockets, reach job.Reach, own *tls.Certificate) *http.Transport {
	dialer := &net.Dialer{Timeout: dialTimeout, ControlContext: newGuard(o, reach).control}
	t := &http.Transport{
		DialContext:            s.bounded(dialer.DialContext),
		ForceAttemptHTTP2:      true,
		TLSHandshakeTimeout:    dialTimeout,
		MaxIdleConns:           idleConnsMax,
		MaxIdleConnsPerHost:    idleConnsMax, // a host may serve the lanes of many tenants and targets
		IdleConnTimeout:        idleConnTimeout,
		MaxResponseHeaderBytes: responseHeaderBytes,
		DisableCompression:     true, // only a few bytes of an answer are read
		HTTP2: &http.HTTP2Config{
			// Without it, every attempt to a host would share a dead connection until its timeout.
			SendPingTimeout:  http2PingAfter,
			PingTimeout:      http2PingAfter,
			WriteByteTimeout: http2WriteMax,
		},
	}
	if o.TLS != nil {
		t.TLSClientConfig = o.TLS.Clone()
	}
	if own != nil {
		if t.TLSClientConfig == nil {
			t.TLSClientConfig = new(tls.Config)
		}
		t.TLSClientConfig.Certificates = []tls.Certificate{*own}
	}
	return t
}
