package oidc

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"errors"
	"math/big"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Bounds of an issuer's keys. A longer one would make each verification expensive.
const (
	keysMax    = 64
	rsaBitsMin = 2048
	rsaBitsMax = 8192
)

// key is a public key of an issuer.
type key struct {
	id     string // "": the issuer names none
	kind   string // RSA, EC or OKP
	alg    string // the only algorithm that it is for; "": any of its kind
	public crypto.PublicKey
}

// serves reports whether a token may have been signed with the key.
func (k *key) serves(s *signed) bool {
	return k.kind == s.alg.kind && (k.alg == "" || k.alg == s.alg.name) && (s.keyID == "" || k.id == s.keyID)
}

// parseKeys reads a set of keys (RFC 7517). Keys that are not for signatures, or of a kind that no permitted algorithm
// has, are left out, as the RFC demands: the issuer may have them for others.
func parseKeys(text []byte) ([]key, error) {
	var set struct {
		Keys []jsontext.Value `json:"keys"`
	}
	if err := json.Unmarshal(text, &set); err != nil {
		return nil, errors.New("the keys of the issuer are no set of keys in JSON")
	}
	if len(set.Keys) > keysMax {
		return nil, errors.New("the issuer has more than 64 keys")
	}
	var keys []key
	for _, one := range set.Keys {
		if k, ok := parseKey(one); ok {
			keys = append(keys, k)
		}
	}
	if len(keys) == 0 {
		return nil, errors.New("the issuer has no key that may sign tokens; want RSA of 2048 bits at least, P-256, P-384, P-521 or Ed25519")
	}
	return keys, nil
}

// jwk is a key as JSON.
type jwk struct {
	Kind       string   `json:"kty"`
	ID         string   `json:"kid"`
	Use        string   `json:"use"`
	Operations []string `json:"key_ops"`
	Algorithm  string   `json:"alg"`
	Curve      string   `json:"crv"`
	N          string   `json:"n"`
	E          string   `json:"e"`
	X          string   `json:"x"`
	Y          string   `json:"y"`
}

func parseKey(text []byte) (k key, ok bool) {
	var j jwk
	if json.Unmarshal(text, &j) != nil || j.Use != "" && j.Use != "sig" || j.Operations != nil && !slices.Contains(j.Operations, "verify") {
		return k, false
	}
	k = key{id: j.ID, kind: j.Kind, alg: j.Algorithm}
	switch j.Kind {
	case "RSA":
		k.public, ok = j.rsa()
	case "EC":
		k.public, ok = j.ec()
	case "OKP":
		x, err := decode(j.X)
		k.public, ok = ed25519.PublicKey(x), err == nil && j.Curve == "Ed25519" && len(x) == ed25519.PublicKeySize
	}
	return k, ok
}

func (j *jwk) rsa() (*rsa.PublicKey, bool) {
	n, err := decode(j.N)
	e, otherErr := decode(j.E)
	if err != nil || otherErr != nil || len(n) > rsaBitsMax/8 || len(e) > 4 {
		return nil, false
	}
	key := &rsa.PublicKey{N: new(big.Int).SetBytes(n), E: int(new(big.Int).SetBytes(e).Int64())}
	return key, key.N.BitLen() >= rsaBitsMin && key.N.Bit(0) == 1 && key.E >= 3 && key.E%2 == 1 && key.E < 1<<31
}

// ec returns a key on a curve; the library checks that it is a point of the curve.
func (j *jwk) ec() (*ecdsa.PublicKey, bool) {
	curve := map[string]elliptic.Curve{"P-256": elliptic.P256(), "P-384": elliptic.P384(), "P-521": elliptic.P521()}[j.Curve]
	x, err := decode(j.X)
	y, otherErr := decode(j.Y)
	if curve == nil || err != nil || otherErr != nil {
		return nil, false
	}
	if size := (curve.Params().BitSize + 7) / 8; len(x) != size || len(y) != size {
		return nil, false
	}
	key, err := ecdsa.ParseUncompressedPublicKey(curve, slices.Concat([]byte{4}, x, y))
	return key, err == nil
}
