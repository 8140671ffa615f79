package main

import (
	"crypto/x509"
	"fmt"

	"github.com/carillon-io/carillon/certs"
	"github.com/carillon-io/carillon/smallfile"
)

// webhookCABytesMax bounds the file of --webhook-ca. The file of a whole system is a quarter of that.
const webhookCABytesMax = 1 << 20

// webhookRoots returns the certificate authorities of the system and of a PEM file; nil if path is "". Every block of the
// file must be a certificate: a mistake would otherwise show only at the first webhook. The file is read once: a
// new authority needs a restart.
func webhookRoots(path string) (*x509.CertPool, error) {
	if path == "" {
		return nil, nil
	}
	text, err := smallfile.Read(path, webhookCABytesMax)
	if err != nil {
		return nil, usagef("--webhook-ca: %v", err)
	}
	own, err := certs.Certificates(text)
	if err != nil {
		return nil, usagef("--webhook-ca %s: %v", path, err)
	}
	// The own authorities are added to those of the system and do not replace them.
	roots, err := x509.SystemCertPool()
	if err != nil {
		return nil, fmt.Errorf("read the system's certificates: %w", err)
	}
	for _, certificate := range own {
		roots.AddCert(certificate)
	}
	return roots, nil
}
