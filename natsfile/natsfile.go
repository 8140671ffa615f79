// Package natsfile gives a connection to NATS the credentials and the certificates that are in files. It does what the
// options of the NATS library with the names of files do, and reads only as package smallfile does: the library would
// wait for ever for the other end of a pipe.
//
// The files are read when an option is applied, so that a bad one is an error of the connection at once, and again for
// each attempt to connect, so that they can be replaced. Files with a secret pass [smallfile.CheckSecret].
package natsfile

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"

	"github.com/carillon-io/carillon/certs"
	"github.com/carillon-io/carillon/smallfile"
)

// bytesMax bounds a file with a user's JWT or a seed. A JWT with a thousand permissions is a tenth of that.
const bytesMax = 1 << 20

// Creds is the option for a credentials file, as `nsc` writes it: a user's JWT and the seed of its key. A ~ at the
// beginning of the path and variables in it are replaced, as the NATS library does.
func Creds(path string) nats.Option {
	path = expand(path)
	user := func() (string, error) {
		text, err := smallfile.ReadSecret(path, bytesMax)
		if err != nil {
			return "", err
		}
		defer clear(text)
		return nkeys.ParseDecoratedJWT(text)
	}
	return func(o *nats.Options) error {
		_, err := user()
		if err == nil {
			_, err = sign(path, nil)
		}
		if err != nil {
			return fmt.Errorf("credentials for NATS: %w", err)
		}
		return nats.UserJWT(user, func(nonce []byte) ([]byte, error) { return sign(path, nonce) })(o)
	}
}

// expand replaces in the path of a credentials file what the NATS library replaces there.
func expand(path string) string {
	path = os.ExpandEnv(path)
	rest, found := strings.CutPrefix(path, "~")
	home, err := os.UserHomeDir()
	if !found || err != nil {
		return path
	}
	return filepath.Join(home, rest)
}

// NKey is the option for a file with the seed of a user's nkey. The connection keeps the public key of the first reading.
func NKey(path string) nats.Option {
	return func(o *nats.Options) error {
		public, err := publicKey(path)
		if err != nil {
			return fmt.Errorf("nkey for NATS: %w", err)
		}
		return nats.Nkey(public, func(nonce []byte) ([]byte, error) { return sign(path, nonce) })(o)
	}
}

// publicKey returns the public key of a user's seed.
func publicKey(path string) (string, error) {
	pair, err := readKey(path)
	if err != nil {
		return "", err
	}
	defer pair.Wipe()
	public, err := pair.PublicKey()
	if err == nil && !nkeys.IsValidPublicUserKey(public) {
		err = errors.New("it has the seed of another kind of key; want that of a user, which begins with SU")
	}
	if err != nil {
		return "", fmt.Errorf("%s: %w", path, err)
	}
	return public, nil
}

// sign signs what a server wants to have signed.
func sign(path string, nonce []byte) ([]byte, error) {
	pair, err := readKey(path)
	if err != nil {
		return nil, err
	}
	defer pair.Wipe()
	return pair.Sign(nonce)
}

// readKey reads the seed of a key. The caller wipes the result.
func readKey(path string) (nkeys.KeyPair, error) {
	text, err := smallfile.ReadSecret(path, bytesMax)
	if err != nil {
		return nil, err
	}
	defer clear(text)
	pair, err := nkeys.ParseDecoratedNKey(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return pair, nil
}

// TLS is the option for a connection with TLS: the authorities to trust, and a client certificate with its key. Each name
// may be "": without authorities those of the system are trusted, and without a certificate none is shown. Without any,
// the option does nothing.
func TLS(authorities, certificate, key string) nats.Option {
	var roots func() (*x509.CertPool, error)
	var pair func() (tls.Certificate, error)
	if authorities != "" {
		roots = func() (*x509.CertPool, error) { return certs.Roots(authorities) }
	}
	if certificate != "" {
		pair = func() (tls.Certificate, error) { return certs.Pair(certificate, key) }
	}
	return func(o *nats.Options) error {
		if roots == nil && pair == nil {
			return nil
		}
		if err := nats.ClientTLSConfig(pair, roots)(o); err != nil { // it calls both
			return fmt.Errorf("TLS for NATS: %w", err)
		}
		return nil
	}
}

// Check returns why an option cannot be applied; nil if it can. It connects to nothing.
func Check(options ...nats.Option) error {
	for _, option := range options {
		o := nats.GetDefaultOptions()
		if err := option(&o); err != nil {
			return err
		}
	}
	return nil
}
