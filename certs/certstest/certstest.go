// Package certstest makes certificate files for the tests of those who listen with TLS.
package certstest

import (
	"crypto/tls"
	"crypto/x509"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/carillon-io/carillon/certs"
)

// Hosts are the names of a listener on this machine.
var Hosts = []string{"localhost", "127.0.0.1", "::1"}

// NewAuthority returns an authority that ends in a year.
func NewAuthority(t testing.TB) *certs.Authority {
	t.Helper()
	a, err := certs.NewAuthority("test", time.Now().Add(24*time.Hour*365))
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// Node is the certificate of a node on this machine, for all of its listeners.
func Node(name string) certs.Wanted {
	return certs.Wanted{Name: name, Hosts: append([]string{name}, Hosts...), Server: true, Client: true}
}

// Client is the certificate of a client.
func Client(name string) certs.Wanted {
	return certs.Wanted{Name: name, Hosts: []string{name}, Client: true}
}

// In returns the files of a listener in a directory. They need not exist.
func In(dir string) certs.Files {
	return certs.Files{Cert: filepath.Join(dir, "own.crt"), Key: filepath.Join(dir, "own.key"), CA: filepath.Join(dir, "ca.crt")}
}

// Write issues a certificate and writes it to the files, with the authority itself. Each file is replaced as a whole.
func Write(t testing.TB, a *certs.Authority, w certs.Wanted, to certs.Files) {
	t.Helper()
	cert, key, err := a.Issue(w)
	if err != nil {
		t.Fatal(err)
	}
	ca, _, err := a.PEM()
	if err != nil {
		t.Fatal(err)
	}
	for path, text := range map[string][]byte{to.Cert: cert, to.Key: key, to.CA: ca} {
		Replace(t, path, text)
	}
}

// Files are Write in a new directory, which is removed when the test ends.
func Files(t testing.TB, a *certs.Authority, w certs.Wanted) certs.Files {
	t.Helper()
	f := In(t.TempDir())
	Write(t, a, w, f)
	return f
}

// Replace replaces a file as a whole; "" is none.
func Replace(t testing.TB, path string, text []byte) {
	t.Helper()
	if path == "" {
		return
	}
	if err := os.WriteFile(path+".new", text, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
}

// Trust returns the configuration of a client that trusts authorities, and shows a certificate if w is not nil.
func Trust(t testing.TB, a *certs.Authority, w *certs.Wanted) *tls.Config {
	t.Helper()
	ca, _, err := a.PEM()
	if err != nil {
		t.Fatal(err)
	}
	c := &tls.Config{RootCAs: x509.NewCertPool(), MinVersion: tls.VersionTLS12}
	c.RootCAs.AppendCertsFromPEM(ca)
	if w != nil {
		c.Certificates = []tls.Certificate{Pair(t, a, *w)}
	}
	return c
}

// Pair issues a certificate for a client of the test itself.
func Pair(t testing.TB, a *certs.Authority, w certs.Wanted) tls.Certificate {
	t.Helper()
	cert, key, err := a.Issue(w)
	if err != nil {
		t.Fatal(err)
	}
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		t.Fatal(err)
	}
	return pair
}
