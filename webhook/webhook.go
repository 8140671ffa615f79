// Package webhook signs HTTP requests and verifies their signatures, as Standard Webhooks 1.0 defines them
// (github.com/standard-webhooks/standard-webhooks). A signature is an HMAC-SHA256 over the id of the message, the time
// of the attempt and the body:
//
//	webhook-id:        the id of the message, the same for each attempt
//	webhook-timestamp: seconds since 1970 of the attempt
//	webhook-signature: v1,<base64 of HMAC-SHA256(key, id "." timestamp "." body)>, one for each key, separated by spaces
//
// The sender signs with two keys while they are rotated, so that receivers with either key accept the request.
package webhook

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// The headers of a signed request.
const (
	HeaderID        = "webhook-id"
	HeaderTimestamp = "webhook-timestamp"
	HeaderSignature = "webhook-signature"
)

// Bounds of keys, and of what a receiver reads of a header.
const (
	KeyBytesMin       = 24
	KeyBytesMax       = 64
	KeysMax           = 2
	signatureBytesMax = 2048
	idBytesMax        = 256
)

// keyPrefix begins the text of a key in base64; version begins a signature.
const (
	keyPrefix = "whsec_"
	version   = "v1,"
)

// ErrInvalid is wrapped by each error of [Verify]: the request does not come from a holder of a key, or is too old.
var ErrInvalid = errors.New("webhook: the request is not to be trusted")

// Key is a key of HMAC-SHA256.
type Key []byte

// ParseKey parses a key: whsec_ and base64, or the bytes of the key themselves. Errors do not repeat the text.
func ParseKey(text string) (Key, error) {
	key := Key(text)
	if encoded, ok := strings.CutPrefix(text, keyPrefix); ok {
		var err error
		if key, err = base64.StdEncoding.Strict().DecodeString(strings.TrimSpace(encoded)); err != nil {
			return nil, errors.New("webhook: what follows whsec_ is no base64 (standard alphabet, with padding)")
		}
	}
	if len(key) < KeyBytesMin || len(key) > KeyBytesMax {
		return nil, fmt.Errorf("webhook: a key has %d bytes; want %d to %d random ones, best as whsec_<base64>", len(key), KeyBytesMin, KeyBytesMax)
	}
	return key, nil
}

// ParseKeys parses the keys of a file: one in each line, at most two. Empty lines do not count, nor does a carriage
// return at the end of a line. So a key that is given as bytes must have no line break.
func ParseKeys(text string) ([]Key, error) {
	var keys []Key
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.TrimSuffix(line, "\r")
		if line == "" {
			continue
		}
		if len(keys) == KeysMax {
			return nil, fmt.Errorf("webhook: there are more than %d lines; want one key, or two while they are rotated, each in a line", KeysMax)
		}
		key, err := ParseKey(line)
		if err != nil {
			return nil, fmt.Errorf("%w (key %d)", err, len(keys)+1)
		}
		keys = append(keys, key)
	}
	if len(keys) == 0 {
		return nil, errors.New("webhook: there is no key; want whsec_<base64> in a line")
	}
	return keys, nil
}

// Sign returns the value of webhook-signature for a message: a signature for each key, in their order. id must have
// no dot.
func Sign(keys []Key, id string, at time.Time, body []byte) string {
	seconds := Timestamp(at)
	texts := make([]string, len(keys))
	for i, key := range keys {
		texts[i] = signature(key, id, seconds, body)
	}
	return strings.Join(texts, " ")
}

// Timestamp returns the value of webhook-timestamp.
func Timestamp(at time.Time) string { return strconv.FormatInt(at.Unix(), 10) }

// signature returns the text of the signature of a message by one key.
func signature(key Key, id, seconds string, body []byte) string {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(id + "." + seconds + "."))
	h.Write(body)
	return version + base64.StdEncoding.EncodeToString(h.Sum(nil))
}

// Message is a request as its receiver got it: the values of the three headers, and the body with every byte.
type Message struct {
	ID, Timestamp, Signature string
	Body                     []byte
}

// Verify returns nil if one of the signatures of a message is by one of the keys, and its timestamp differs from now
// by at most tolerance. Other errors wrap [ErrInvalid]. Signatures are compared as texts, so that each has one form, and in
// constant time.
func Verify(keys []Key, m Message, now time.Time, tolerance time.Duration) error {
	bad := func(format string, args ...any) error {
		return fmt.Errorf("%w: "+format, append([]any{ErrInvalid}, args...)...)
	}
	switch {
	case m.ID == "" || m.Timestamp == "" || m.Signature == "":
		return bad("it has not each of %s, %s and %s", HeaderID, HeaderTimestamp, HeaderSignature)
	// With a dot, one signature would fit several divisions into id, timestamp and body.
	case len(m.ID) > idBytesMax || strings.Contains(m.ID, "."):
		return bad("its id is too long, or has a dot")
	case len(m.Signature) > signatureBytesMax:
		return bad("its signatures are too long")
	}
	seconds, err := strconv.ParseInt(m.Timestamp, 10, 64)
	if err != nil || strconv.FormatInt(seconds, 10) != m.Timestamp {
		return bad("its timestamp is no number of seconds")
	}
	if age := now.Sub(time.Unix(seconds, 0)); age > tolerance || age < -tolerance {
		return bad("its timestamp is %s away from this clock; at most %s are allowed", age.Abs().Truncate(time.Second), tolerance)
	}
	isValid := false
	for one := range strings.SplitSeq(m.Signature, " ") {
		if !strings.HasPrefix(one, version) {
			continue // of another scheme
		}
		for _, key := range keys {
			isValid = hmac.Equal([]byte(one), []byte(signature(key, m.ID, m.Timestamp, m.Body))) || isValid
		}
	}
	if !isValid {
		return bad("none of its signatures fits a key")
	}
	return nil
}
