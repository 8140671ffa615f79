package certs

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"net"
	"strings"
	"time"
)

// Authority is a small certificate authority for trying out and for tests. Its key is in a file like any other, so it
// is no replacement for the authority of a company.
type Authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
}

// begun is how long before the present new certificates begin, because the clocks of machines differ.
const begun = time.Hour

// NewAuthority returns an authority that ends at the given instant.
func NewAuthority(name string, ends time.Time) (*Authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		Subject: pkix.Name{CommonName: name}, NotBefore: time.Now().Add(-begun), NotAfter: ends,
		IsCA: true, BasicConstraintsValid: true, MaxPathLenZero: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageCRLSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, err
	}
	c, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, err
	}
	return &Authority{certificate: c, key: key}, nil
}

// ReadAuthority returns the authority that PEM returned earlier.
func ReadAuthority(cert, key []byte) (*Authority, error) {
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		return nil, err
	}
	own, ok := pair.PrivateKey.(*ecdsa.PrivateKey)
	if !ok || !pair.Leaf.IsCA {
		return nil, errors.New("it is no authority with an ECDSA key")
	}
	return &Authority{certificate: pair.Leaf, key: own}, nil
}

// PEM returns the certificate of the authority and its key.
func (a *Authority) PEM() (cert, key []byte, err error) {
	key, err = keyPEM(a.key)
	return certPEM(a.certificate.Raw), key, err
}

// Wanted says which certificate is wanted.
type Wanted struct {
	Name  string   // common name
	Hosts []string // names of the SAN: addresses, e-mail addresses (with an @) and DNS names
	// At least one of them is set. A certificate of a peer has both.
	Server, Client bool
	Begins         time.Time // zero: an hour ago
	Ends           time.Time // zero: in a year; at the latest with the authority
}

// Issue returns a new key and a certificate for it.
func (a *Authority) Issue(w Wanted) (cert, key []byte, err error) {
	own, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	der, err := x509.CreateCertificate(rand.Reader, w.template(a.certificate.NotAfter), a.certificate, own.Public(), a.key)
	if err != nil {
		return nil, nil, err
	}
	key, err = keyPEM(own)
	return certPEM(der), key, err
}

// template returns the certificate without key and signature.
func (w Wanted) template(endsMax time.Time) *x509.Certificate {
	t := &x509.Certificate{
		Subject: pkix.Name{CommonName: w.Name}, NotBefore: w.Begins, NotAfter: w.Ends,
		KeyUsage: x509.KeyUsageDigitalSignature, BasicConstraintsValid: true,
	}
	if t.NotBefore.IsZero() {
		t.NotBefore = time.Now().Add(-begun)
	}
	if t.NotAfter.IsZero() {
		t.NotAfter = time.Now().AddDate(1, 0, 0)
	}
	if t.NotAfter.After(endsMax) {
		t.NotAfter = endsMax // so that the warning of its end comes in time
	}
	if w.Server {
		t.ExtKeyUsage = append(t.ExtKeyUsage, x509.ExtKeyUsageServerAuth)
	}
	if w.Client {
		t.ExtKeyUsage = append(t.ExtKeyUsage, x509.ExtKeyUsageClientAuth)
	}
	for _, host := range w.Hosts {
		if ip := net.ParseIP(host); ip != nil {
			t.IPAddresses = append(t.IPAddresses, ip)
		} else if strings.Contains(host, "@") {
			t.EmailAddresses = append(t.EmailAddresses, host)
		} else {
			t.DNSNames = append(t.DNSNames, host)
		}
	}
	return t
}

func certPEM(der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}

func keyPEM(key *ecdsa.PrivateKey) ([]byte, error) {
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, err
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), nil
}
