package certs

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
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

// Certificates reads the PEM blocks of a text: at least one, and each a certificate. Text between the blocks is a comment.
// The error says which block is wrong.
func Certificates(text []byte) (all []*x509.Certificate, err error) {
	const want = `want one certificate or more in PEM form, "-----BEGIN CERTIFICATE-----"`
	if len(bytes.TrimSpace(text)) == 0 {
		return nil, errors.New("the file is empty; " + want)
	}
	blocks, err := blocksOf(text)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%w; %s", err, want)
	case len(blocks) == 0:
		return nil, errors.New("the file has no PEM block; " + want)
	}
	for i, block := range blocks {
		if block.Type != "CERTIFICATE" {
			return nil, fmt.Errorf("block %d has the type %s; %s", i+1, block.Type, want)
		}
		c, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, fmt.Errorf("block %d is no certificate: %w; %s", i+1, err, want)
		}
		all = append(all, c)
	}
	return all, nil
}

// blocksOf returns the PEM blocks of a text. It fails if there is one that is cut short or damaged, which the library passes
// over as it does a comment: a chain without its end, or an authority less, would show only in the handshakes of others.
func blocksOf(text []byte) (all []*pem.Block, err error) {
	begin := []byte("-----BEGIN")
	for {
		block, rest := pem.Decode(text)
		read := text[:len(text)-len(rest)]
		if block == nil {
			read = text
		}
		if n := bytes.Count(read, begin); n > 1 || n == 1 && block == nil {
			return nil, fmt.Errorf("block %d is cut short or damaged", len(all)+1)
		}
		if block == nil {
			return all, nil
		}
		all, text = append(all, block), rest
	}
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
