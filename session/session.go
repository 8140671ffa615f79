// Package session seals what a browser keeps for the pages: its cookies. What is sealed can be neither read nor changed
// without the key, which all nodes of a cluster share, and is good until an instant that is sealed with it.
//
// The value of a cookie is base64url, without padding, of:
//
//	version  1 byte    1
//	nonce    12 bytes  random
//	sealed             AES-256-GCM of: 8 bytes, the end in Unix seconds, big-endian; then the content
//
// The key of each kind of cookie is derived from the shared one by HKDF-SHA-256, so that no cookie serves as another. The
// version is authenticated.
package session

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"strings"
	"time"
)

// KeyBytes is the size of a key.
const KeyBytes = 32

// SealedBytesMax is the size of the largest value: browsers keep cookies of 4,096 bytes, with the name and the attributes.
const SealedBytesMax = 3800

// The format.
const (
	version    = 1
	nonceBytes = 12
	endBytes   = 8
)

// NewKey draws a key.
func NewKey() []byte {
	key := make([]byte, KeyBytes)
	_, _ = rand.Read(key) // it never fails
	return key
}

// ErrTooLarge is returned by [Seal] for a content that no browser would keep.
var ErrTooLarge = errors.New("session: the content is too large for a cookie")

// aead returns the cipher for a kind of cookie.
func aead(key []byte, kind string) cipher.AEAD {
	own, err := hkdf.Key(sha256.New, key, nil, "carillon cookie "+kind, KeyBytes)
	if err != nil {
		panic(err) // only a key that is too long for the hash
	}
	block, err := aes.NewCipher(own)
	if err != nil {
		panic(err) // only a key of another size
	}
	gcm, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		panic(err) // only a cipher of another block size
	}
	return gcm
}

// Seal returns the value of a cookie of a kind, with a content that is good until an instant.
func Seal(key []byte, kind string, content []byte, until time.Time) (string, error) {
	plain := binary.BigEndian.AppendUint64(nil, uint64(until.Unix()))
	value := aead(key, kind).Seal([]byte{version}, nil, append(plain, content...), []byte{version})
	if text := base64.RawURLEncoding.EncodeToString(value); len(text) <= SealedBytesMax {
		return text, nil
	}
	return "", ErrTooLarge
}

// Open returns the content of a cookie of a kind, if it was sealed under this key and is still good.
func Open(key []byte, kind, value string, now time.Time) (content []byte, ok bool) {
	if len(value) > SealedBytesMax || strings.ContainsAny(value, "\r\n") { // which the decoder would skip
		return nil, false
	}
	sealed, err := base64.RawURLEncoding.Strict().DecodeString(value)
	if err != nil || len(sealed) < 1+nonceBytes || sealed[0] != version {
		return nil, false
	}
	plain, err := aead(key, kind).Open(nil, nil, sealed[1:], sealed[:1])
	if err != nil || len(plain) < endBytes || now.Unix() >= int64(binary.BigEndian.Uint64(plain)) {
		return nil, false
	}
	return plain[endBytes:], true
}
