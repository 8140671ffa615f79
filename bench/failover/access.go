package main

import (
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/nats-io/nats.go"
)

// access is what a guarded cluster wants of those who reach it: certificates from an authority that changes, and tokens.
// The files of each node are in a directory of its own. The methods of the scenarios are called by one goroutine; those
// that connections use are safe for concurrent use.
type access struct {
	binary  string
	dir     string
	nodes   []string // names
	hosts   []string // by which the nodes are reached
	issued  int      // authorities so far
	dropped atomic.Int64

	mu    sync.Mutex      // guards what follows
	roots *x509.CertPool  // that clients trust
	pair  tls.Certificate // that clients show
}

// The principals of the file of rights. A token is as good as any for a cluster that lives for some minutes.
const (
	loadToken  = "carillon_load"  // admin of the tenant of the load
	rootToken  = "carillon_root"  // admin of all tenants
	guestToken = "carillon_guest" // operator, who is in the file at times
)

// rightsText returns a file of rights, with or without the guest.
func rightsText(guest bool) string {
	text := "tenants:\n  default: {nats: {storage: 2GiB}}\nprincipals:\n"
	add := func(name, token, tenant, role string) {
		text += fmt.Sprintf("  - {name: %s, token_sha256: %x, grants: [{tenant: %q, role: %s}]}\n", name, sha256.Sum256([]byte(token)), tenant, role)
	}
	add("load", loadToken, "default", "admin")
	add("root", rootToken, "*", "admin")
	if guest {
		add("guest", guestToken, "default", "operator")
	}
	return text
}

// openAccess makes an authority, certificates and a file of rights for some nodes.
func openAccess(binary, dir string, nodes, hosts []string) (*access, error) {
	a := &access{binary: binary, dir: filepath.Join(dir, "access"), nodes: nodes, hosts: hosts}
	if err := os.Mkdir(a.dir, 0o700); err != nil {
		return a, err
	}
	from, err := a.issue()
	if err != nil {
		return a, err
	}
	for _, name := range nodes {
		err := errors.Join(os.Mkdir(filepath.Join(a.dir, name), 0o700), a.trust(name, from), a.renew(name, from), a.write(name, "auth.yaml", []byte(rightsText(false))))
		if err != nil {
			return a, err
		}
	}
	return a, a.show(from, from)
}

// issue lets the program under test make another authority, with certificates for all nodes and for the clients. It
// returns their directory.
func (a *access) issue() (from string, err error) {
	a.issued++
	from = a.authority()
	out, err := exec.Command(a.binary, "auth", "certs", from, "--nodes", strings.Join(a.nodes, ","),
		"--hosts", strings.Join(a.hosts, ","), "--client", "load").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("carillon auth certs: %w\n%s", err, out)
	}
	return from, nil
}

// authority returns the directory of the newest authority.
func (a *access) authority() string {
	return filepath.Join(a.dir, fmt.Sprintf("authority-%d", a.issued))
}

// The two authorities of a directory: of servers and clients, and of the peers.
var authorityFiles = []string{"ca.crt", "peers-ca.crt"}

// trust lets a node trust some authorities.
func (a *access) trust(node string, authorities ...string) (err error) {
	for _, name := range authorityFiles {
		text, failed := bundle(authorities, name)
		err = errors.Join(err, failed, a.write(node, name, text))
	}
	return err
}

// renew gives a node the certificates that an authority has issued for it: one for clients, and one for its peers.
func (a *access) renew(node, authority string) (err error) {
	for own, issued := range map[string]string{"own": node, "own-peer": node + "-peer"} {
		for _, kind := range []string{".crt", ".key"} {
			text, failed := os.ReadFile(filepath.Join(authority, issued+kind))
			err = errors.Join(err, failed, a.write(node, own+kind, text))
		}
	}
	return err
}

// write replaces a file of a node as a whole.
func (a *access) write(node, name string, text []byte) error {
	path := filepath.Join(a.dir, node, name)
	if err := os.WriteFile(path+".new", text, 0o600); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

// bundle returns the certificates of some authorities, one after the other.
func bundle(authorities []string, name string) (text []byte, err error) {
	for _, dir := range authorities {
		one, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return nil, err
		}
		text = slices.Concat(text, one)
	}
	return text, nil
}

// show gives the clients the certificate of an authority, and lets them trust others. It is for connections from now on.
func (a *access) show(own string, trusted ...string) error {
	pair, err := tls.LoadX509KeyPair(filepath.Join(own, "load.crt"), filepath.Join(own, "load.key"))
	text, err2 := bundle(trusted, authorityFiles[0])
	if err := errors.Join(err, err2); err != nil {
		return err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.roots, a.pair = x509.NewCertPool(), pair
	if !a.roots.AppendCertsFromPEM(text) {
		return errors.New("no authority is in the files")
	}
	return nil
}

// config returns the TLS of a client. Whatever the clients are given later holds for it, too, which the verification by
// the standard library does not offer: so it is done here.
func (a *access) config() *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS12, InsecureSkipVerify: true, VerifyConnection: a.verify,
		GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
			a.mu.Lock()
			defer a.mu.Unlock()
			pair := a.pair
			return &pair, nil
		},
	}
}

// verify checks the certificate of a server against the authorities of the moment.
func (a *access) verify(s tls.ConnectionState) error {
	a.mu.Lock()
	roots := a.roots
	a.mu.Unlock()
	o := x509.VerifyOptions{Roots: roots, DNSName: s.ServerName, Intermediates: x509.NewCertPool()}
	for _, c := range s.PeerCertificates[1:] {
		o.Intermediates.AddCert(c)
	}
	_, err := s.PeerCertificates[0].Verify(o)
	return err
}

// options returns what a connection needs besides, in the name of a token, and counts it when it ends. A cluster that is
// not guarded, which is nil, needs nothing.
func (a *access) options(token string) []nats.Option {
	if a == nil {
		return nil
	}
	return []nats.Option{
		nats.Secure(a.config()), nats.Token(token),
		nats.DisconnectErrHandler(func(*nats.Conn, error) { a.dropped.Add(1) }),
	}
}

// flags returns the flags of a node.
func (a *access) flags(node string) (flags []string) {
	in := func(name string) string { return filepath.Join(a.dir, node, name) }
	for _, listener := range []struct{ flag, ca, own, authority string }{
		{"--http-tls", "-client-ca", "own", "ca.crt"}, {"--listen-tls", "-ca", "own", "ca.crt"}, {"--cluster-tls", "-ca", "own-peer", "peers-ca.crt"},
	} {
		flags = append(flags, listener.flag+"-cert", in(listener.own+".crt"), listener.flag+"-key", in(listener.own+".key"), listener.flag+listener.ca, in(listener.authority))
	}
	return append(flags, "--auth", in("auth.yaml"))
}

// guard lets a client of HTTP ask over TLS, in the name of the admin of all tenants.
func (a *access) guard(c *http.Client, from site) {
	c.Transport = rootTransport{&http.Transport{DialContext: from.DialContext, TLSClientConfig: a.config()}}
}

// rootTransport adds the token of the admin of all tenants to each request.
type rootTransport struct{ http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (t rootTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	req = req.Clone(req.Context())
	req.Header.Set("Authorization", "Bearer "+rootToken)
	return t.RoundTripper.RoundTrip(req)
}

// hostsOf returns the hosts of addresses.
func hostsOf(addresses []string) (hosts []string) {
	for _, address := range addresses {
		if host, _, err := net.SplitHostPort(address); err == nil && !slices.Contains(hosts, host) {
			hosts = append(hosts, host)
		}
	}
	return hosts
}
