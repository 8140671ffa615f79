package dispatch

import (
	"net"
	"net/http"
	"time"
)

const (
	dialTimeout         = 10 * time.Second
	idleConnTimeout     = 90 * time.Second
	idleConnsMax        = 2048
	responseHeaderBytes = 64 << 10
	http2PingAfter      = 15 * time.Second
)

// newTransport returns the transport of http targets. It dials each target itself, with the guard's
// check, and never through a proxy, even if the environment names one: a proxy would dial addresses that
// the guard cannot check.
func newTransport(o Options) *http.Transport {
	dialer := &net.Dialer{Timeout: dialTimeout, ControlContext: newGuard(o).control}
	t := &http.Transport{
		DialContext:            dialer.DialContext,
		ForceAttemptHTTP2:      true,
		TLSHandshakeTimeout:    dialTimeout,
		MaxIdleConns:           idleConnsMax,
		MaxIdleConnsPerHost:    idleConnsMax, // a host may serve the lanes of many tenants and targets
		IdleConnTimeout:        idleConnTimeout,
		MaxResponseHeaderBytes: responseHeaderBytes,
		DisableCompression:     true, // only a few bytes of an answer are read
		HTTP2: &http.HTTP2Config{
			// Without it, every attempt to a host would share a dead connection until its timeout.
			SendPingTimeout: http2PingAfter,
			PingTimeout:     http2PingAfter,
		},
	}
	if o.TLS != nil {
		t.TLSClientConfig = o.TLS.Clone()
	}
	return t
}
