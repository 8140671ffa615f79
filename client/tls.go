package client

import (
	"crypto/tls"
	"errors"
	"fmt"

	"github.com/carillon-io/carillon/certs"
)

// TLSFrom returns the settings for [Options].TLS from files: the authorities to trust, and a client certificate with
// its key. Each name may be "": without authorities those of the system are trusted, and without a certificate the
// client shows none. It returns nil if all are "". The certificate is read again for each connection, so it is renewed
// by replacing the files.
func TLSFrom(authorities, certificate, key string) (*tls.Config, error) {
	if authorities == "" && certificate == "" && key == "" {
		return nil, nil
	}
	if (certificate == "") != (key == "") {
		return nil, errors.New("client: TLS: a certificate and its key go together")
	}
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if authorities != "" {
		roots, err := certs.Roots(authorities)
		if err != nil {
			return nil, fmt.Errorf("client: TLS: %w", err)
		}
		config.RootCAs = roots
	}
	if certificate == "" {
		return config, nil
	}
	read := func() (*tls.Certificate, error) {
		pair, err := certs.Pair(certificate, key)
		if err != nil {
			return nil, fmt.Errorf("client: TLS: %w", err)
		}
		return &pair, nil
	}
	config.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return read() }
	_, err := read() // so that a bad file is an error now
	return config, err
}
