package dispatch

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"syscall"
	"time"

	"github.com/carillon-io/carillon/job"
)

const (
	dialTimeout         = 10 * time.Second
	idleConnTimeout     = 90 * time.Second
	idleConnsMax        = 2048
	responseHeaderBytes = 64 << 10
	http2PingAfter      = 15 * time.Second
)

// newTransport returns the transport of http targets. No proxy is used unless asked for.
func newTransport(o Options) *http.Transport {
	dialer := &net.Dialer{Timeout: dialTimeout}
	if !o.AllowPrivateTargets && !o.ProxyFromEnvironment {
		dialer.ControlContext = refusePrivate
	}
	t := &http.Transport{
		DialContext:            dialer.DialContext,
		ForceAttemptHTTP2:      true,
		TLSHandshakeTimeout:    dialTimeout,
		MaxIdleConns:           idleConnsMax,
		MaxIdleConnsPerHost:    min(o.ConcurrencyPerTarget, idleConnsMax),
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
	if o.ProxyFromEnvironment {
		t.Proxy = http.ProxyFromEnvironment
	}
	return t
}

// privateAddressError says that a target is at an address that this server does not send to.
type privateAddressError struct{ address string }

// Error implements error.
func (e privateAddressError) Error() string {
	return fmt.Sprintf("%s is a loopback or private address, which this server refuses (--allow-private-targets)", e.address)
}

// refusePrivate is called with the address that is about to be dialled, after the name was resolved,
// so a name that resolves to something else the second time gains nothing.
func refusePrivate(_ context.Context, _, address string, _ syscall.RawConn) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("dial %s: %w", address, err)
	}
	if job.IsPrivateAddr(at.Addr()) {
		return privateAddressError{at.Addr().String()}
	}
	return nil
}
