package oidc

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	_ "crypto/sha256" // for crypto.SHA256
	_ "crypto/sha512" // for crypto.SHA384 and crypto.SHA512
	"math/big"
)

// algorithm is a way to sign.
type algorithm struct {
	name   string
	kind   string         // of its keys: RSA, EC or OKP
	hash   crypto.Hash    // 0: the signature hashes by itself
	curve  elliptic.Curve // of EC
	verify func(a *algorithm, public crypto.PublicKey, content, signature []byte) bool
}

// algorithms are those that are permitted. None of them has a secret that this server would know: with one, who reads
// the file of rights could sign.
var algorithms = map[string]algorithm{
	"RS256": {"RS256", "RSA", crypto.SHA256, nil, verifyRSA},
	"RS384": {"RS384", "RSA", crypto.SHA384, nil, verifyRSA},
	"RS512": {"RS512", "RSA", crypto.SHA512, nil, verifyRSA},
	"PS256": {"PS256", "RSA", crypto.SHA256, nil, verifyPSS},
	"PS384": {"PS384", "RSA", crypto.SHA384, nil, verifyPSS},
	"PS512": {"PS512", "RSA", crypto.SHA512, nil, verifyPSS},
	"ES256": {"ES256", "EC", crypto.SHA256, elliptic.P256(), verifyEC},
	"ES384": {"ES384", "EC", crypto.SHA384, elliptic.P384(), verifyEC},
	"ES512": {"ES512", "EC", crypto.SHA512, elliptic.P521(), verifyEC},
	"EdDSA": {"EdDSA", "OKP", 0, nil, verifyEd25519},
}

func (a *algorithm) sum(content []byte) []byte {
	h := a.hash.New()
	h.Write(content)
	return h.Sum(nil)
}

func verifyRSA(a *algorithm, public crypto.PublicKey, content, signature []byte) bool {
	key, ok := public.(*rsa.PublicKey)
	return ok && rsa.VerifyPKCS1v15(key, a.hash, a.sum(content), signature) == nil
}

// verifyPSS accepts only a salt as long as the hash, as RFC 7518 demands.
func verifyPSS(a *algorithm, public crypto.PublicKey, content, signature []byte) bool {
	key, ok := public.(*rsa.PublicKey)
	return ok && rsa.VerifyPSS(key, a.hash, a.sum(content), signature, &rsa.PSSOptions{SaltLength: rsa.PSSSaltLengthEqualsHash}) == nil
}

// verifyEC verifies a signature that is two numbers of the size of the curve, one after the other.
func verifyEC(a *algorithm, public crypto.PublicKey, content, signature []byte) bool {
	key, ok := public.(*ecdsa.PublicKey)
	half := (a.curve.Params().BitSize + 7) / 8
	if !ok || key.Curve != a.curve || len(signature) != 2*half {
		return false
	}
	r, s := new(big.Int).SetBytes(signature[:half]), new(big.Int).SetBytes(signature[half:])
	return ecdsa.Verify(key, a.sum(content), r, s)
}

func verifyEd25519(_ *algorithm, public crypto.PublicKey, content, signature []byte) bool {
	key, ok := public.(ed25519.PublicKey)
	return ok && len(signature) == ed25519.SignatureSize && ed25519.Verify(key, content, signature)
}
