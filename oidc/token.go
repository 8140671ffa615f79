package oidc

import (
	"bytes"
	"encoding/base64"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// TokenBytesMax is the largest size of a token.
const TokenBytesMax = 16 << 10

// LooksLikeToken reports whether a text can be a token of an issuer, rather than one of Carillon's own: it has three
// parts with dots between.
func LooksLikeToken(text string) bool { return strings.Count(text, ".") == 2 }

// signed is a token that was taken apart. Nothing of it is verified.
type signed struct {
	alg       algorithm
	keyID     string // "": any key may have signed it
	content   []byte // what is signed: header and claims as they were sent
	claims    []byte // JSON
	signature []byte
}

// errNoToken is the refusal of a text that no issuer has made.
const errNoToken = Refusal("it is no signed JWT; want three parts in base64url with dots between, of at most 16 KiB")

// parse takes a token apart. The result refers to no part of text that is larger than a token.
func parse(text string) (*signed, error) {
	if len(text) > TokenBytesMax || !LooksLikeToken(text) {
		return nil, errNoToken
	}
	header, rest, _ := strings.Cut(text, ".")
	claims, signature, _ := strings.Cut(rest, ".")
	head, err := decode(header)
	if err != nil {
		return nil, err
	}
	s := &signed{content: []byte(text[:len(header)+1+len(claims)])}
	if err := s.readHeader(head); err != nil {
		return nil, err
	}
	if s.claims, err = decode(claims); err == nil {
		s.signature, err = decode(signature)
	}
	return s, err
}

// decode decodes a part of a token. Each part has one encoding: line ends, padding and stray bits are refused.
func decode(part string) ([]byte, error) {
	if strings.ContainsAny(part, "\r\n") { // the decoder would skip them
		return nil, errNoToken
	}
	b, err := base64.RawURLEncoding.Strict().DecodeString(part)
	if err != nil {
		return nil, errNoToken
	}
	return b, nil
}

// readHeader reads the header. What it demands beyond the signature (crit) is refused, because it could change what the
// token means; and so is a type that is not that of an identity or of an access token, because an issuer signs other
// things with the same keys.
func (s *signed) readHeader(text []byte) error {
	var h struct {
		Algorithm string         `json:"alg"`
		KeyID     string         `json:"kid"`
		Type      string         `json:"typ"`
		Critical  jsontext.Value `json:"crit"`
	}
	if json.Unmarshal(text, &h) != nil {
		return errNoToken
	}
	switch kind := strings.ToLower(h.Type); {
	case kind != "" && kind != "jwt" && kind != "at+jwt" && kind != "application/at+jwt":
		return Refusal("its type is that of neither an identity nor an access token; want JWT or at+jwt")
	case len(bytes.TrimSpace(h.Critical)) > 0:
		return Refusal("its header has crit, which is not supported")
	}
	alg, ok := algorithms[h.Algorithm]
	if !ok {
		return Refusal("its algorithm is not permitted; want a signature by RS256, PS256, ES256 or EdDSA, or by their forms with 384 and 512 bits")
	}
	s.alg, s.keyID = alg, h.KeyID
	return nil
}
