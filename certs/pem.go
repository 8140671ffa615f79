package certs

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"

	"github.com/carillon-io/carillon/smallfile"
)

// Roots reads a file with the authorities that a client trusts, one or more in PEM form. Text between them, and blocks
// of other types, are passed over.
func Roots(path string) (*x509.CertPool, error) {
	text, err := smallfile.Read(path, fileBytesMax)
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("%s has no certificate; want authorities in PEM form", path)
	}
	return pool, nil
}

// Pair reads the certificate of a client and its private key, both in PEM form. The permissions of the files are the
// client's own affair.
func Pair(certificate, key string) (tls.Certificate, error) {
	cert, err := smallfile.Read(certificate, fileBytesMax)
	if err != nil {
		return tls.Certificate{}, err
	}
	text, err := smallfile.Read(key, fileBytesMax)
	if err != nil {
		return tls.Certificate{}, err
	}
	pair, err := tls.X509KeyPair(cert, text)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("the certificate %s and the key %s: %w", certificate, key, err)
	}
	return pair, nil
}
