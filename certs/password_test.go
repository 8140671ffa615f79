package certs_test

import (
	"bytes"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"testing"

	"github.com/carillon-io/carillon/certs"
	"github.com/carillon-io/carillon/certs/certstest"
)

// ofPassword is the configuration of a node with a password of the cluster prod.
func ofPassword(t *testing.T, password, cluster string) *tls.Config {
	t.Helper()
	c, err := certs.PeersOfPassword(password, cluster)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestPeersOfPassword: two nodes with one password and one name of the cluster accept each other, over TLS 1.3 and with keys of
// their own. Nobody else is accepted, whichever side connects.
func TestPeersOfPassword(t *testing.T) {
	a := ofPassword(t, "tower", "prod")
	foreign := certstest.NewAuthority(t)
	node := certstest.Node("b")
	ofFiles := certstest.Trust(t, foreign, &node)
	ofFiles.InsecureSkipVerify = true
	none := &tls.Config{InsecureSkipVerify: true}
	older := ofPassword(t, "tower", "prod")
	older.MinVersion, older.MaxVersion = tls.VersionTLS12, tls.VersionTLS12
	anyone := &tls.Config{Certificates: []tls.Certificate{certstest.Pair(t, foreign, node)}, ClientAuth: tls.RequestClientCert}
	ofPair, err := x509.ParseCertificate(anyone.Certificates[0].Certificate[0])
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		other    *tls.Config
		connects bool // rather than a
		arePeers bool
	}{
		"the same":                          {other: ofPassword(t, "tower", "prod"), arePeers: true},
		"the same, connects":                {other: ofPassword(t, "tower", "prod"), connects: true, arePeers: true},
		"another password":                  {other: ofPassword(t, "bell", "prod")},
		"another password, connects":        {other: ofPassword(t, "bell", "prod"), connects: true},
		"another cluster":                   {other: ofPassword(t, "tower", "staging")},
		"another cluster, connects":         {other: ofPassword(t, "tower", "staging"), connects: true},
		"certificates of files":             {other: anyone},
		"certificates of files, connects":   {other: ofFiles, connects: true},
		"no certificate, connects":          {other: none, connects: true},
		"an older version of TLS, connects": {other: older, connects: true},
	} {
		t.Run(name, func(t *testing.T) {
			server, client := c.other, a
			if c.connects {
				server, client = a, c.other
			}
			state, ofServer, ofClient := shake(t, server, client)
			if arePeers := ofServer == nil && ofClient == nil; arePeers != c.arePeers {
				t.Errorf("peers: %t; %v, %v", arePeers, ofServer, ofClient)
			}
			if c.arePeers && (state.Version != tls.VersionTLS13 || len(state.VerifiedChains) == 0) {
				t.Errorf("TLS %x, and %d chains", state.Version, len(state.VerifiedChains))
			}
		})
	}
	if b := ofPassword(t, "tower", "prod"); bytes.Equal(a.Certificates[0].Leaf.RawSubjectPublicKeyInfo, b.Certificates[0].Leaf.RawSubjectPublicKeyInfo) {
		t.Error("two nodes have one key")
	}
	if c := a.Certificates[0].Leaf; !certs.IsOfPassword(c) || certs.IsOfPassword(ofPair) {
		t.Error("certificates of passwords cannot be told from others")
	}
}

// TestKeyOfPasswordStays: the key of a password is a part of the protocol between nodes, so that a node of this scheme is let in
// by one that is years older.
func TestKeyOfPasswordStays(t *testing.T) {
	c := ofPassword(t, "tower", "prod")
	chains, err := c.Certificates[0].Leaf.Verify(x509.VerifyOptions{Roots: c.RootCAs, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}})
	if err != nil {
		t.Fatal(err)
	}
	const want = "dae56b07fef41e02e7f925265a1bc3ff6a475430c4ead75197e3f14a5f501e71"
	if got := fmt.Sprintf("%x", sha256.Sum256(chains[0][1].Raw)); got != want {
		t.Errorf("the authority is %s; want %s", got, want)
	}
}
