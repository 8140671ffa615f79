package web

import (
	"context"
	"crypto/x509"
	"net"
	"net/http"
	"sync"

	"github.com/carillon-io/carillon/certs"
)

type shownKey struct{}

// shown is what the client of a connection has shown of itself. It is verified once, at the first request that asks for it:
// a verification costs some signatures, which a client could otherwise demand with each request.
type shown struct {
	once        sync.Once
	certificate *x509.Certificate // nil: there is none that is good
	err         error
}

// withShown returns the context of the requests of a connection, for [http.Server.ConnContext].
func withShown(ctx context.Context, _ net.Conn) context.Context {
	return context.WithValue(ctx, shownKey{}, new(shown))
}

// certificate returns the certificate of the client of a request; nil without one. The error says why one that was shown is
// not accepted, in words for the client. One that ends while the connection is open is good no longer.
func (w *gateway) certificate(req *http.Request) (*x509.Certificate, error) {
	s, ok := req.Context().Value(shownKey{}).(*shown)
	if !ok {
		s = new(shown) // of a server that is not of this package
	}
	s.once.Do(func() { s.certificate, s.err = w.opts.Certificates.Client(req.TLS, w.now()) })
	if s.certificate != nil && w.now().After(s.certificate.NotAfter) {
		return nil, certs.ErrExpired
	}
	return s.certificate, s.err
}
