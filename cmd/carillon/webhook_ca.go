package main

import (
	"bytes"
	"crypto/x509"
	"encoding/pem"
	"fmt"

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
	own, err := readCertificates(text)
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

// readCertificates reads the PEM blocks of a text: at least one, and each a certificate. Text between the blocks is a
// comment.
func readCertificates(text []byte) (all []*x509.Certificate, err error) {
	const want = `want one certificate or more in PEM form, "-----BEGIN CERTIFICATE-----"`
	if len(bytes.TrimSpace(text)) == 0 {
		return nil, fmt.Errorf("the file is empty; %s", want)
	}
	for n := 1; ; n++ {
		block, rest := pem.Decode(text)
		switch {
		// pem.Decode passes over a block that it cannot read, as over a comment.
		case block == nil && bytes.Contains(text, []byte("-----BEGIN")):
			return nil, fmt.Errorf("block %d is cut short or damaged; %s", n, want)
		case block == nil && n == 1:
			return nil, fmt.Errorf("the file has no PEM block; %s", want)
		case block == nil:
			return all, nil
		case block.Type != "CERTIFICATE":
			return nil, fmt.Errorf("block %d has the type %s; %s", n, block.Type, want)
		}
		certificate, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, fmt.Errorf("block %d is no certificate: %w; %s", n, err, want)
		}
		all, text = append(all, certificate), rest
	}
}
