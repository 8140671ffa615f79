package access

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"math/big"
)

// tokenPrefix begins every token, so that scanners of repositories and logs can find one that was left there.
const tokenPrefix = "carillon_"

// tokenBytesMax bounds what is taken for a token at all. Tokens of other makers are accepted as well.
const tokenBytesMax = 512

// tokenDigits is the length of 256 bits in base 62.
const tokenDigits = 43

// NewToken draws a token of 256 random bits, and returns it with what the file of rights has of it. The hash needs no
// salt and no stretching, because 2^256 tokens cannot be tried out.
func NewToken() (token, hash string) {
	var bits [32]byte
	_, _ = rand.Read(bits[:]) // it never fails
	digits := new(big.Int).SetBytes(bits[:]).Text(62)
	for len(digits) < tokenDigits {
		digits = "0" + digits
	}
	token = tokenPrefix + digits
	return token, HashToken(token)
}

// HashToken returns the SHA-256 of a token, in hexadecimal digits.
func HashToken(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}
