package certs

import (
	"crypto/ed25519"
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"math/big"
	"time"
)

// The certificates of peers that have a password in common. All of it is the same on all nodes: another label, name or
// number of rounds makes other peers, which is how a later release would tell itself from this one.
const (
	// passwordLabel stands before the name of the cluster in the salt of the key. It has the version of this scheme.
	passwordLabel = "carillon peers 1 "
	// passwordRounds makes a guess of the password as expensive as a tenth of a second of a processor: whoever connects
	// is shown a certificate, against which passwords can be tried.
	passwordRounds = 200_000
	// passwordName is the name in the certificates. It is in the handshake, so it says nothing about the cluster.
	passwordName = "carillon-peers"
)

// PeersOfPassword returns the configuration of a server that connects with others of its kind in both directions, and
// accepts those only that know the same password for a cluster of the same name. The key of an authority comes from the
// two. Each call issues a certificate of that authority for a new key, which never leaves the process. Both sides show
// such a certificate and verify that of the other side, over TLS 1.3. The password is not sent in any form.
//
// The certificates do not end: the password is what holds, and a clock that is wrong must not keep a node out. The call
// takes a tenth of a second of a processor.
func PeersOfPassword(password, cluster string) (*tls.Config, error) {
	seed, err := pbkdf2.Key(sha256.New, password, []byte(passwordLabel+cluster), passwordRounds, ed25519.SeedSize)
	if err != nil {
		return nil, fmt.Errorf("make the key of the peers: %w", err)
	}
	authorityKey := ed25519.NewKeyFromSeed(seed)
	authority, err := sign(passwordTemplate(true), nil, authorityKey.Public(), authorityKey)
	if err != nil {
		return nil, err
	}
	public, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("make a key: %w", err)
	}
	own, err := sign(passwordTemplate(false), authority, public, authorityKey)
	if err != nil {
		return nil, err
	}
	roots := x509.NewCertPool()
	roots.AddCert(authority)
	return &tls.Config{
		MinVersion: tls.VersionTLS13, SessionTicketsDisabled: true,
		Certificates: []tls.Certificate{{Certificate: [][]byte{own.Raw}, PrivateKey: key, Leaf: own}},
		ClientAuth:   tls.RequireAndVerifyClientCert, ClientCAs: roots, RootCAs: roots, ServerName: passwordName,
	}, nil
}

// IsOfPassword reports whether a certificate is one that [PeersOfPassword] issues, for whichever password.
func IsOfPassword(c *x509.Certificate) bool { return c.Subject.CommonName == passwordName }

// passwordTemplate returns the authority, or a certificate of it, without key and signature.
func passwordTemplate(isAuthority bool) *x509.Certificate {
	t := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: passwordName},
		NotBefore: time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC), NotAfter: time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC),
		BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature,
	}
	if isAuthority {
		t.Subject.CommonName += " authority"
		t.IsCA, t.MaxPathLenZero, t.KeyUsage = true, true, x509.KeyUsageCertSign
		return t
	}
	t.DNSNames = []string{passwordName}
	t.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}
	return t
}

// sign returns a certificate for a public key. Without a parent it is its own.
func sign(template, parent *x509.Certificate, public any, by ed25519.PrivateKey) (*x509.Certificate, error) {
	if parent == nil {
		parent = template
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, public, by)
	if err != nil {
		return nil, fmt.Errorf("make a certificate of the peers: %w", err)
	}
	return x509.ParseCertificate(der)
}
