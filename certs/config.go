package certs

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"time"
)

// Server returns the configuration of a listener for clients. With authorities among the files, clients are treated as
// auth says; without, none is asked for a certificate. Each connection uses the files that were read last. The result
// may be cloned, and is safe for concurrent use.
//
// Sessions are not resumed: a resumed one would be accepted by what was read before.
func (k *Keeper) Server(auth tls.ClientAuthType) *tls.Config {
	return k.listener(auth, func(now *reading, c *tls.Config) {
		if now.roots == nil {
			c.ClientAuth = tls.NoClientCert
		}
	})
}

// listener returns a configuration that is completed by the present reading for each connection.
func (k *Keeper) listener(auth tls.ClientAuthType, complete func(*reading, *tls.Config)) *tls.Config {
	if k.files.CA == "" {
		auth = tls.NoClientCert
	}
	c := &tls.Config{
		MinVersion: tls.VersionTLS12, ClientAuth: auth, SessionTicketsDisabled: true,
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return &k.now.Load().certificate, nil },
	}
	c.GetConfigForClient = func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
		now := k.now.Load()
		one := &tls.Config{
			MinVersion: tls.VersionTLS12, ClientAuth: auth, SessionTicketsDisabled: true,
			Certificates: []tls.Certificate{now.certificate}, ClientCAs: now.roots, NextProtos: c.NextProtos,
		}
		complete(now, one)
		return one, nil
	}
	return c
}

// Peers returns the configuration of a server that connects with others of its kind in both directions, such as the
// NATS servers of a cluster. Both sides show a certificate of the authorities that may be used for both directions:
// that of a mere client is refused. Names are not checked, because every holder of such a certificate is a peer. Each
// connection uses the files that were read last. The files must name authorities.
func (k *Keeper) Peers() *tls.Config {
	c := k.listener(tls.RequireAndVerifyClientCert, func(now *reading, one *tls.Config) {
		one.VerifyConnection = now.verify
	})
	c.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return &k.now.Load().certificate, nil }
	// The library would verify with authorities that never change. VerifyConnection does the same with the present ones,
	// and only for connections to others: those from others use what GetConfigForClient returns.
	c.InsecureSkipVerify = true //nolint:gosec // see above
	c.VerifyConnection = func(state tls.ConnectionState) error { return k.now.Load().verify(state) }
	return c
}

// verify returns an error unless the other side is a peer.
func (r *reading) verify(state tls.ConnectionState) error {
	return verifyPeer(state.PeerCertificates, r.roots, time.Now())
}

// verifyPeer returns an error unless the first certificate of a chain is from one of the authorities, valid at an
// instant, and for both directions.
func verifyPeer(chain []*x509.Certificate, roots *x509.CertPool, at time.Time) error {
	if len(chain) == 0 {
		return errors.New("the peer shows no certificate")
	}
	between := x509.NewCertPool()
	for _, c := range chain[1:] {
		between.AddCert(c)
	}
	for _, use := range []struct {
		use  x509.ExtKeyUsage
		name string
	}{{x509.ExtKeyUsageServerAuth, "serverAuth"}, {x509.ExtKeyUsageClientAuth, "clientAuth"}} {
		_, err := chain[0].Verify(x509.VerifyOptions{
			Roots: roots, Intermediates: between, CurrentTime: at, KeyUsages: []x509.ExtKeyUsage{use.use},
		})
		if err != nil {
			return fmt.Errorf("as a peer (%s): %w", use.name, err)
		}
	}
	return nil
}

// Client returns the certificate that the client of a connection has shown, such as that of [net/http.Request.TLS], if it is
// from one of the authorities that were read last, valid at an instant, and for clients; nil if it has shown none, or if no
// authorities are among the files. It is for a listener with [tls.RequestClientCert], whose handshake does not judge what is
// shown, so that a client learns by an answer what is wrong. The error is a [ClientError].
func (k *Keeper) Client(state *tls.ConnectionState, at time.Time) (*x509.Certificate, error) {
	if k == nil || state == nil || len(state.PeerCertificates) == 0 {
		return nil, nil
	}
	roots := k.now.Load().roots
	if roots == nil {
		return nil, nil
	}
	shown := state.PeerCertificates[0]
	between := x509.NewCertPool()
	for _, c := range state.PeerCertificates[1:] {
		between.AddCert(c)
	}
	_, err := shown.Verify(x509.VerifyOptions{Roots: roots, Intermediates: between, CurrentTime: at, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}})
	if err != nil {
		return nil, clientError(shown, at, err)
	}
	return shown, nil
}

// ClientError says to a client why its certificate is not accepted, and nothing of the authorities.
type ClientError string

// Error implements error.
func (e ClientError) Error() string { return string(e) }

// ErrExpired is the [ClientError] of a certificate that has ended.
const ErrExpired = ClientError("it has expired")

// clientError returns the reason for a failed verification.
func clientError(shown *x509.Certificate, at time.Time, err error) ClientError {
	invalid, _ := errors.AsType[x509.CertificateInvalidError](err)
	_, isForeign := errors.AsType[x509.UnknownAuthorityError](err)
	switch {
	case at.After(shown.NotAfter):
		return ErrExpired
	case at.Before(shown.NotBefore):
		return "it is not valid yet"
	case isForeign:
		return "it is from no authority that this server trusts for clients"
	case invalid.Reason == x509.IncompatibleUsage:
		return "it is not for the authentication of clients"
	}
	return "it cannot be verified with the authorities that this server trusts for clients"
}

// Names returns the names that a certificate is issued for: its DNS names, e-mail addresses and URIs, in that order.
// They are those of the SAN; the common name is not among them. nil has none.
func Names(c *x509.Certificate) []string {
	if c == nil {
		return nil
	}
	names := append(append([]string{}, c.DNSNames...), c.EmailAddresses...)
	for _, u := range c.URIs {
		names = append(names, u.String())
	}
	return names
}
