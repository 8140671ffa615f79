package client

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
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
		text, err := os.ReadFile(authorities)
		if err != nil {
			return nil, fmt.Errorf("client: TLS: %w", err)
		}
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(text) {
			return nil, fmt.Errorf("client: TLS: %s has no certificate; want authorities in PEM", authorities)
		}
	}
	if certificate == "" {
		return config, nil
	}
	read := func() (*tls.Certificate, error) {
		pair, err := tls.LoadX509KeyPair(certificate, key)
		if err != nil {
			return nil, fmt.Errorf("client: TLS: %w", err)
		}
		return &pair, nil
	}
	config.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return read() }
	_, err := read() // so that a bad file is an error now
	return config, err
}
