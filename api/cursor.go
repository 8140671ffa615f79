package api

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"

	"github.com/carillon-io/carillon/apierr"
)

// A cursor says where the next page of a query begins. To callers it is opaque. Its content, in base64url without
// padding:
//
//	version  1 byte
//	sum      8 bytes of SHA-256 over version, kind and query, each with its length, and the key
//	key      the last name or run of the previous page
//
// The sum ties a cursor to its query, including the tenant, and detects cursors that were truncated or changed. It is
// not a secret: the key only says where to continue in a list that the caller may read anyway.
const (
	// A cursor of another version is refused like one of another query; callers begin the list again.
	cursorVersion = 1
	// Enough against mistakes; a caller that forges a sum gains nothing, because the engine checks the key again.
	cursorSumBytes = 8
	// Several times what the longest key needs in base64. A page keeps that much room for its cursor.
	cursorBytesMax = 512
)

// query identifies the list that a cursor belongs to: its kind, its tenant and every filter, in a fixed order. A
// filter that is missing here would let a cursor continue a list with another filter, and so skip or repeat entries.
type query []string

// cursor returns the cursor of the page after key; "" if key is "", which is how a list says that it has ended.
func (q query) cursor(key string) string {
	if key == "" {
		return ""
	}
	return base64.RawURLEncoding.EncodeToString(append(q.head(key), key...))
}

// key returns the key of a cursor of this query; "" for an empty cursor. Decoding is strict, so that one place has
// one cursor.
func (q query) key(cursor string) (string, error) { return q.keyWithin(cursor, cursorBytesMax) }

// keyWithin is key for a list whose cursors have at most the given length.
func (q query) keyWithin(cursor string, most int) (string, error) {
	if cursor == "" {
		return "", nil
	}
	if len(cursor) <= most {
		b, err := base64.RawURLEncoding.Strict().DecodeString(cursor)
		// A key is never empty: the end of a list has no cursor.
		if err == nil && len(b) > 1+cursorSumBytes {
			head, key := string(b[:1+cursorSumBytes]), string(b[1+cursorSumBytes:])
			if head == string(q.head(key)) {
				return key, nil
			}
		}
	}
	return "", errCursor()
}

// errCursor is the refusal of a cursor that the server has not made for this list.
func errCursor() error {
	return apierr.Errorf(apierr.InvalidField, "cursor", "is none of this query; want the next_cursor of the page before, with the same filters, or none for the first page")
}

// head returns the version and the sum of the cursor for a key. Each part is preceded by its length, so that two
// different lists of filters never give the same text: ["ab", "c"] and ["a", "bc"] differ.
func (q query) head(key string) []byte {
	h := sha256.New()
	for _, part := range append([]string{string(rune(cursorVersion))}, q...) {
		h.Write(binary.AppendUvarint(nil, uint64(len(part))))
		h.Write([]byte(part))
	}
	h.Write([]byte(key))
	return h.Sum([]byte{cursorVersion})[:1+cursorSumBytes]
}
