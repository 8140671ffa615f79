package oidctest

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"fmt"
	"math/big"
	"testing"
)

// Key is a key of the issuer.
type Key struct {
	ID, Algorithm string

	private crypto.Signer
	hash    crypto.Hash // 0 for Ed25519
}

// NewKey draws a key for an algorithm, such as RS256.
func NewKey(t testing.TB, algorithm, id string) *Key {
	t.Helper()
	k := &Key{ID: id, Algorithm: algorithm}
	var err error
	switch algorithm {
	case "RS256", "RS384", "RS512", "PS256", "PS384", "PS512":
		k.private, err = rsa.GenerateKey(rand.Reader, 2048)
	case "ES256":
		k.private, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	case "ES384":
		k.private, err = ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	case "ES512":
		k.private, err = ecdsa.GenerateKey(elliptic.P521(), rand.Reader)
	case "EdDSA":
		_, k.private, err = ed25519.GenerateKey(rand.Reader)
	default:
		err = fmt.Errorf("no key for %s", algorithm)
	}
	if err != nil {
		t.Fatal(err)
	}
	k.hash = map[string]crypto.Hash{"256": crypto.SHA256, "384": crypto.SHA384, "512": crypto.SHA512}[algorithm[2:]]
	return k
}

// As returns the same key under another algorithm of its kind.
func (k *Key) As(algorithm string) *Key {
	other := *k
	other.Algorithm = algorithm
	other.hash = map[string]crypto.Hash{"256": crypto.SHA256, "384": crypto.SHA384, "512": crypto.SHA512}[algorithm[2:]]
	return &other
}

// Public returns the public key as JSON has it.
func (k *Key) Public() map[string]any {
	j := map[string]any{"kid": k.ID, "use": "sig"}
	switch public := k.private.Public().(type) {
	case *rsa.PublicKey:
		j["kty"], j["n"], j["e"] = "RSA", text(public.N.Bytes()), text(big.NewInt(int64(public.E)).Bytes())
	case *ecdsa.PublicKey:
		point, err := public.Bytes()
		if err != nil {
			panic(err)
		}
		half := len(point) / 2
		j["kty"], j["crv"], j["x"], j["y"] = "EC", public.Params().Name, text(point[1:1+half]), text(point[1+half:])
	case ed25519.PublicKey:
		j["kty"], j["crv"], j["x"] = "OKP", "Ed25519", text(public)
	}
	return j
}

func text(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

func (k *Key) signature(content []byte) ([]byte, error) {
	sum := content
	switch k.hash {
	case crypto.SHA256:
		s := sha256.Sum256(content)
		sum = s[:]
	case crypto.SHA384:
		s := sha512.Sum384(content)
		sum = s[:]
	case crypto.SHA512:
		s := sha512.Sum512(content)
		sum = s[:]
	}
	switch private := k.private.(type) {
	case *rsa.PrivateKey:
		if k.Algorithm[0] == 'P' {
			return rsa.SignPSS(rand.Reader, private, k.hash, sum, &rsa.PSSOptions{SaltLength: rsa.PSSSaltLengthEqualsHash})
		}
		return rsa.SignPKCS1v15(rand.Reader, private, k.hash, sum)
	case *ecdsa.PrivateKey:
		r, s, err := ecdsa.Sign(rand.Reader, private, sum)
		if err != nil {
			return nil, err
		}
		half := (private.Params().BitSize + 7) / 8
		both := make([]byte, 2*half)
		r.FillBytes(both[:half])
		s.FillBytes(both[half:])
		return both, nil
	}
	return k.private.Sign(rand.Reader, content, crypto.Hash(0))
}
