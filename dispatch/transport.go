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

// newTransport returns the transport of http targets. It dials each target itself, under the guard, and never
// through a proxy, whatever the environment says: a proxy would dial addresses that no guard sees.
func newTransport(o Options) *http.Transport {
	dialer := &net.Dialer{Timeout: dialTimeout, ControlContext: newGuard(o).control}
	t := &http.Transport{
		DialContext:            dialer.DialContext,
		ForceAttemptHTTP2:      true,
		TLSHandshakeTimeout:    dialTimeout,
		MaxIdleConns:           idleConnsMax,
		MaxIdleConnsPerHost:    idleConnsMax, // as many as tenants and targets have places there
		IdleConnTimeout:        idleConnTimeout,
		MaxResponseHeaderBytes: responseHeaderBytes,
		DisableCompression:     true, // the few bytes that are read are not worth it
		HTTP2: &http.HTTP2Config{
			// A dead connection would otherwise be shared by every attempt to its host.
			SendPingTimeout: http2PingAfter,
			PingTimeout:     http2PingAfter,
		},
	}
	if o.TLS != nil {
		t.TLSClientConfig = o.TLS.Clone()
	}
	return t
}
