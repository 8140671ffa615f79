package certs_test

import (
	"crypto/tls"
	"crypto/x509"
	"log/slog"
	"net"
	"slices"
	"testing"
	"time"

	"github.com/carillon-io/carillon/certs"
	"github.com/carillon-io/carillon/certs/certstest"
	"github.com/carillon-io/carillon/testkit"
)

// shake makes a handshake, and returns what the server knows of the client, and the errors of both.
func shake(t *testing.T, server, client *tls.Config) (state tls.ConnectionState, ofServer, ofClient error) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	there, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	here, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	client = client.Clone()
	if client.ServerName == "" {
		client.ServerName = "localhost"
	}
	result := make(chan error, 1)
	go func() {
		c := tls.Client(there, client)
		err := c.Handshake()
		if err == nil { // in TLS 1.3 the refusal of a client's certificate comes after the handshake
			_, err = c.Read(make([]byte, 1))
		}
		_ = c.Close()
		result <- err
	}()
	s := tls.Server(here, server)
	if ofServer = s.Handshake(); ofServer == nil {
		_, ofServer = s.Write([]byte{1})
	}
	_ = s.Close()
	ofClient = <-result
	return s.ConnectionState(), ofServer, ofClient
}

// TestServer: a server shows its certificate to all, and verifies what a client shows.
func TestServer(t *testing.T) {
	k := open(t, certstest.Node("a"))
	foreign := certstest.NewAuthority(t)
	expired := certstest.Client("late")
	expired.Begins, expired.Ends = time.Now().Add(-2*time.Hour), time.Now().Add(-time.Hour)
	alice := certstest.Client("alice")
	server := certs.Wanted{Name: "s", Hosts: []string{"s"}, Server: true}
	withForeign := certstest.Trust(t, k.authority, nil)
	withForeign.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
		pair := certstest.Pair(t, foreign, alice)
		return &pair, nil
	}
	old := certstest.Trust(t, k.authority, nil)
	old.MinVersion, old.MaxVersion = tls.VersionTLS10, tls.VersionTLS11
	for _, c := range []struct {
		name   string
		auth   tls.ClientAuthType
		client *tls.Config
		refuse string
		names  []string
	}{
		{"none", tls.RequestClientCert, certstest.Trust(t, k.authority, nil), "", nil},
		{"alice", tls.RequestClientCert, certstest.Trust(t, k.authority, &alice), "", []string{"alice"}},
		{"none where one is required", tls.RequireAndVerifyClientCert, certstest.Trust(t, k.authority, nil), "didn't provide a certificate", nil},
		{"alice where one is required", tls.RequireAndVerifyClientCert, certstest.Trust(t, k.authority, &alice), "", []string{"alice"}},
		{"foreign", tls.RequestClientCert, withForeign, "from no authority", nil},
		{"expired", tls.RequestClientCert, certstest.Trust(t, k.authority, &expired), "it has expired", nil},
		{"of a server", tls.RequestClientCert, certstest.Trust(t, k.authority, &server), "not for the authentication of clients", nil},
		{"TLS 1.1", tls.RequestClientCert, old, "unsupported versions", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			state, err, ofClient := shake(t, k.Server(c.auth), c.client)
			shown, wrong := k.Client(&state, time.Now())
			if err == nil && wrong != nil {
				err = wrong
			}
			if c.refuse != "" {
				testkit.Refuses(t, err, c.refuse)
				return
			}
			if err != nil || ofClient != nil {
				t.Fatalf("%v, %v", err, ofClient)
			}
			if names := certs.Names(shown); !slices.Equal(names, c.names) {
				t.Errorf("the client is %q; want %q", names, c.names)
			}
		})
	}
	if _, _, err := shake(t, k.Server(tls.NoClientCert), certstest.Trust(t, foreign, nil)); err == nil {
		t.Error("a client trusts a foreign server")
	}
	if c, err := k.Client(nil, time.Now()); c != nil || err != nil || certs.Names(nil) != nil {
		t.Error("without TLS there is a certificate")
	}
}

// TestSessionsEndWithTheirAuthority: a client whose authority is gone does not come in by an earlier session.
func TestSessionsEndWithTheirAuthority(t *testing.T) {
	k := open(t, certstest.Node("a"))
	alice := certstest.Client("alice")
	client := certstest.Trust(t, k.authority, &alice)
	client.ClientSessionCache = tls.NewLRUClientSessionCache(8)
	server := k.Server(tls.RequireAndVerifyClientCert)
	if _, err, _ := shake(t, server, client); err != nil {
		t.Fatal(err)
	}
	own := certstest.NewAuthority(t)
	certstest.Write(t, own, certstest.Node("a"), k.files)
	if err := k.Check(); err != nil {
		t.Fatal(err)
	}
	client.InsecureSkipVerify = true
	_, err, _ := shake(t, server, client)
	testkit.Refuses(t, err, "unknown authority")
}

// peers opens the keeper of a peer whose files are in place.
func peers(t *testing.T, files certs.Files) *certs.Keeper {
	t.Helper()
	k, err := certs.Open(certs.Options{Name: "cluster", Files: files, Peers: true, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// TestPeers: two peers accept each other in both directions, and nothing else, also while their authority is replaced.
func TestPeers(t *testing.T) {
	old, next := certstest.NewAuthority(t), certstest.NewAuthority(t)
	filesA, filesB := certstest.Files(t, old, certstest.Node("a")), certstest.Files(t, old, certstest.Node("b"))
	a, b := peers(t, filesA), peers(t, filesB)
	agree := func(when string) {
		t.Helper()
		for _, pair := range [][2]*certs.Keeper{{a, b}, {b, a}} {
			if state, err, ofClient := shake(t, pair[0].Peers(), pair[1].Peers()); err != nil || ofClient != nil || len(state.PeerCertificates) == 0 {
				t.Errorf("%s: %v, %v", when, err, ofClient)
			}
		}
	}
	agree("at first")
	// As docs/tls.md has it: first both authorities everywhere, then the certificates, then the new authority alone.
	oldCA, _, _ := old.PEM()
	nextCA, _, _ := next.PEM()
	for _, f := range []certs.Files{filesA, filesB} {
		certstest.Replace(t, f.CA, slices.Concat(oldCA, nextCA))
		check(t, a, b)
		agree("with both authorities")
	}
	for _, f := range []certs.Files{filesA, filesB} {
		certstest.Write(t, next, certstest.Node("x"), certs.Files{Cert: f.Cert, Key: f.Key})
		check(t, a, b)
		agree("with new certificates")
	}
	for _, f := range []certs.Files{filesA, filesB} {
		certstest.Replace(t, f.CA, nextCA)
		check(t, a, b)
		agree("with the new authority")
	}
	ops, web := certstest.Client("ops"), certs.Wanted{Name: "w", Hosts: []string{"localhost"}, Server: true}
	expired := certstest.Node("late")
	expired.Begins, expired.Ends = time.Now().Add(-2*time.Hour), time.Now().Add(-time.Hour)
	node := certstest.Node("a")
	for name, client := range map[string]*tls.Config{
		"a client": certstest.Trust(t, next, &ops), "nothing": certstest.Trust(t, next, nil), "an expired node": certstest.Trust(t, next, &expired),
		"a node of the old authority": {InsecureSkipVerify: true, Certificates: []tls.Certificate{certstest.Pair(t, old, node)}},
	} {
		if _, err, _ := shake(t, a.Peers(), client); err == nil {
			t.Errorf("%s is a peer", name)
		}
	}
	for name, server := range map[string]tls.Certificate{
		"a mere server": certstest.Pair(t, next, web), "a client": certstest.Pair(t, next, ops),
		"a node of the old authority": certstest.Pair(t, old, node), "an expired node": certstest.Pair(t, next, expired),
	} {
		if _, _, err := shake(t, &tls.Config{Certificates: []tls.Certificate{server}}, a.Peers()); err == nil {
			t.Errorf("%s is accepted by a peer that connects", name)
		}
	}
}

func check(t *testing.T, all ...*certs.Keeper) {
	t.Helper()
	for _, k := range all {
		if err := k.Check(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestAuthority: what an authority issues is read back, and belongs to it.
func TestAuthority(t *testing.T) {
	a := certstest.NewAuthority(t)
	cert, key, err := a.PEM()
	if err != nil {
		t.Fatal(err)
	}
	again, err := certs.ReadAuthority(cert, key)
	if err != nil {
		t.Fatal(err)
	}
	w := certstest.Node("a")
	w.Hosts = append(w.Hosts, "ann@example.com", "a.example.com")
	leaf := certstest.Pair(t, again, w).Leaf
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(cert)
	for _, host := range []string{"a", "localhost", "127.0.0.1", "::1", "a.example.com"} {
		if _, err := leaf.Verify(x509.VerifyOptions{Roots: roots, DNSName: host}); err != nil {
			t.Errorf("%s: %v", host, err)
		}
	}
	if names := certs.Names(leaf); !slices.Equal(names, []string{"a", "localhost", "a.example.com", "ann@example.com"}) {
		t.Errorf("names %q", names)
	}
	own, ownKey, _ := a.Issue(w)
	if _, err := certs.ReadAuthority(own, ownKey); err == nil {
		t.Error("a certificate that is no authority issues others")
	}
}
