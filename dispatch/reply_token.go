package dispatch

import (
	crand "crypto/rand"
	"math/rand/v2"
	"strconv"
	"strings"
)

// replyToken is the last token of a reply subject. Each receiver of a message sees its reply subject, and so the
// prefix that all share: the number alone would let it answer for others.
type replyToken struct {
	number uint64 // by which an answer finds what it answers; 0 means none
	secret uint64 // that an answer must repeat
}

// replyBase is the base of the numbers in a reply subject.
const replyBase = 36

// subject returns the reply subject with the token.
func (t replyToken) subject(prefix string) string {
	var space [128]byte
	b := append(space[:0], prefix...)
	b = strconv.AppendUint(b, t.number, replyBase)
	b = append(b, '-')
	return string(strconv.AppendUint(b, t.secret, replyBase))
}

// parseReplyToken returns the token of a reply subject, or the zero value if it has none.
func parseReplyToken(subject, prefix string) replyToken {
	number, secret, _ := strings.Cut(strings.TrimPrefix(subject, prefix), "-")
	n, err := strconv.ParseUint(number, replyBase, 64)
	if err != nil {
		return replyToken{}
	}
	s, err := strconv.ParseUint(secret, replyBase, 64)
	if err != nil {
		return replyToken{}
	}
	return replyToken{number: n, secret: s}
}

// newSecrets returns a source of secrets, which cannot be computed from each other. It is not safe for concurrent use.
func newSecrets() *rand.ChaCha8 {
	var seed [32]byte
	_, _ = crand.Read(seed[:]) // never fails
	return rand.NewChaCha8(seed)
}
