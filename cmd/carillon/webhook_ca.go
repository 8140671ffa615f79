package main

import (
	"bytes"
	"crypto/x509"
	"encoding/pem"
	"fmt"
)

// webhookCABytesMax bounds the file of --webhook-ca; that of a whole system is a quarter of it.
const webhookCABytesMax = 1 << 20

// webhookRoots returns the authorities of the system and those of a PEM file; nil without a file. Every block of the
// file counts: one that is cut short or is no certificate is a mistake that would show only at the first webhook.
func webhookRoots(path string) (*x509.CertPool, error) {
	if path == "" {
		return nil, nil
	}
	text, err := readFileMax(path, webhookCABytesMax)
	if err != nil {
		return nil, usagef("--webhook-ca: %v", err)
	}
	own, err := readCertificates(text)
	if err != nil {
		return nil, usagef("--webhook-ca %s: %v", path, err)
	}
	roots, err := x509.SystemCertPool()
	if err != nil {
		return nil, fmt.Errorf("read the system's certificates: %w", err)
	}
	for _, certificate := range own {
		roots.AddCert(certificate)
	}
	return roots, nil
}

// readCertificates reads a text of PEM blocks, which are all certificates and at least one. What stands between the
// blocks is comment.
func readCertificates(text []byte) (all []*x509.Certificate, err error) {
	const want = `want one certificate or more in PEM form, "-----BEGIN CERTIFICATE-----"`
	if len(bytes.TrimSpace(text)) == 0 {
		return nil, fmt.Errorf("the file is empty; %s", want)
	}
	for n := 1; ; n++ {
		block, rest := pem.Decode(text)
		switch {
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
