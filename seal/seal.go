// Package seal proves that a node of a cluster wrote a message: by a code under a key that only the nodes have. A seal keeps
// no program that may listen from sending the same message again, so a receiver must bear that.
package seal

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
)

// Header is the header of a message that has its seal.
const Header = "Carillon-Seal"

// The kinds of messages. A seal of one kind is wrong for any other.
const (
	Forward = "carillon forward 1" // a request that another node passes on
	Usage   = "carillon usage 1"   // what tenants use in the shards that a node leads
)

// Of returns the seal of a message of a kind: over its subject, what its header says about it, and its body. The kind, the
// subject and the header must not contain a zero byte.
func Of(key []byte, kind, subject string, about, body []byte) string {
	mac := hmac.New(sha256.New, key)
	for _, part := range [][]byte{[]byte(kind), []byte(subject), about} {
		mac.Write(part)
		mac.Write([]byte{0}) // no part contains it
	}
	mac.Write(body)
	return base64.RawStdEncoding.EncodeToString(mac.Sum(nil))
}

// Is reports whether a seal is the one that [Of] returns. It takes the same time wherever the two differ.
func Is(given string, key []byte, kind, subject string, about, body []byte) bool {
	return hmac.Equal([]byte(given), []byte(Of(key, kind, subject, about, body)))
}
