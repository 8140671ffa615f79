package certs

import (
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/carillon-io/carillon/smallfile"
)

// Files name the files of a listener, all in PEM form. The zero value names none: the listener has no TLS. Each may
// be a link, such as those of a mounted secret of Kubernetes; a change of the link is a change of the file.
type Files struct {
	Cert string // certificate, followed by the intermediate ones
	Key  string // its private key; other users of the machine may not read it
	CA   string // authorities whose certificates are accepted from the other side; empty: none is asked for
}

// IsSet reports whether any of the files is named.
func (f Files) IsSet() bool { return f != Files{} }

// fileBytesMax bounds each file. The authorities of a whole system are a quarter of that.
const fileBytesMax = 1 << 20

// reading is what the files contained at one time. It never changes.
type reading struct {
	certificate tls.Certificate
	chain       []*x509.Certificate // those of certificate, parsed; at least one
	roots       *x509.CertPool      // nil: no file has authorities
	authorities []*x509.Certificate // those of roots
	sum         [sha256.Size]byte
	begins      time.Time
	ends        time.Time
	rootsEnd    time.Time // when the last of the authorities ends; zero without authorities
}

// read reads and checks the files at an instant. A certificate that has ended is no error here: the caller compares it
// with the one that it has.
func (f Files) read(forPeers bool, at time.Time) (*reading, error) {
	cert, err := smallfile.Read(f.Cert, fileBytesMax)
	if err != nil {
		return nil, fmt.Errorf("the certificate: %w", err)
	}
	key, err := smallfile.ReadSecret(f.Key, fileBytesMax)
	if err != nil {
		return nil, fmt.Errorf("the key: %w", err)
	}
	var ca []byte
	if f.CA != "" {
		if ca, err = smallfile.Read(f.CA, fileBytesMax); err != nil {
			return nil, fmt.Errorf("the authorities: %w", err)
		}
	}
	r := &reading{sum: sumOf(cert, key, ca)}
	if _, err := blocksOf(cert); err != nil { // of which the library reads those before the damage
		return nil, fmt.Errorf("the certificate %s: %w", f.Cert, err)
	}
	if r.certificate, err = tls.X509KeyPair(cert, key); err != nil {
		return nil, fmt.Errorf("the certificate %s and the key %s: %w", f.Cert, f.Key, err)
	}
	if err := r.noteChain(); err != nil {
		return nil, fmt.Errorf("the certificate %s: %w", f.Cert, err)
	}
	if ca != nil {
		if err := r.noteRoots(ca); err != nil {
			return nil, fmt.Errorf("the authorities %s: %w", f.CA, err)
		}
	}
	if forPeers {
		if err := r.checkPeer(at); err != nil {
			return nil, fmt.Errorf("the certificate %s: %w", f.Cert, err)
		}
	}
	return r, nil
}

// sumOf returns a hash of the contents of the files, which no other contents have.
func sumOf(texts ...[]byte) [sha256.Size]byte {
	var all []byte
	for _, text := range texts {
		one := sha256.Sum256(text)
		all = append(all, one[:]...)
	}
	return sha256.Sum256(all)
}

// noteChain records the certificates of the chain, and when the first of them is valid. The others may have ended: some
// authorities add one for old clients.
func (r *reading) noteChain() error {
	for i, der := range r.certificate.Certificate {
		c, err := x509.ParseCertificate(der)
		if err != nil {
			return fmt.Errorf("block %d is no certificate: %w", i+1, err)
		}
		r.chain = append(r.chain, c)
	}
	r.begins, r.ends = r.chain[0].NotBefore, r.chain[0].NotAfter
	return nil
}

// noteRoots records the authorities. Every block must be a certificate: one that was passed over would show only when
// a client is refused.
func (r *reading) noteRoots(text []byte) error {
	all, err := Certificates(text)
	if err != nil {
		return err
	}
	r.authorities, r.roots = all, poolOf(all)
	for _, c := range all {
		if c.NotAfter.After(r.rootsEnd) {
			r.rootsEnd = c.NotAfter
		}
	}
	return nil
}

// checkServer returns an error if clients that verify the certificate of a server refuse this one whatever it is called.
func (r *reading) checkServer() error {
	c := r.chain[0]
	forServers := len(c.ExtKeyUsage)+len(c.UnknownExtKeyUsage) == 0 || slices.Contains(c.ExtKeyUsage, x509.ExtKeyUsageServerAuth) || slices.Contains(c.ExtKeyUsage, x509.ExtKeyUsageAny)
	switch {
	case !forServers:
		return errors.New("is not for servers: its extended key usage lacks serverAuth")
	case len(c.DNSNames)+len(c.IPAddresses) == 0:
		return errors.New("has no name of a host in the SAN; a common name is not enough")
	}
	return nil
}

// checkPeer returns an error if the others of a cluster would refuse the certificate at an instant. One that is not valid then is
// judged without regard to times: it may be valid again, or only was before its authority, which was renewed with its key, and a
// start with it warns and goes on.
func (r *reading) checkPeer(at time.Time) error {
	if r.roots == nil {
		return errors.New("peers verify each other, and no file with their authorities is named")
	}
	chain, roots := r.chain, r.roots
	if at.Before(r.begins) || at.After(r.ends) {
		chain, roots = validAt(chain, at), poolOf(validAt(r.authorities, at))
	}
	if err := verifyPeer(chain, roots, at); err != nil {
		return fmt.Errorf("the peers would refuse it: %w", err)
	}
	return nil
}

// validAt returns copies of certificates that are valid at an instant, so that what is left to verify are signatures and uses.
func validAt(all []*x509.Certificate, at time.Time) (copies []*x509.Certificate) {
	for _, c := range all {
		valid := *c
		valid.NotBefore, valid.NotAfter = at, at
		copies = append(copies, &valid)
	}
	return copies
}

// poolOf returns the certificates as a pool.
func poolOf(all []*x509.Certificate) *x509.CertPool {
	pool := x509.NewCertPool()
	for _, c := range all {
		pool.AddCert(c)
	}
	return pool
}
