package job

import (
	"slices"
	"strings"
)

// Mask stands in the place of a credential wherever a job is shown: in replies, lists, pages, dead letters,
// the audit log and the errors of runs. The log and the store keep the value itself. A put that brings
// the mask back keeps the stored value; see [Definition.Unmask].
const Mask = "********"

// MaskChanged stands, in the After of an audit entry, for a credential that the change replaced. A put
// takes it for [Mask].
const MaskChanged = Mask + "-changed"

// credentialWords are the last words of the names whose values are credentials: of headers, and of parameters
// in the query of a URL. Words are separated by anything but letters and digits, or by a capital; numbers
// behind the last one do not count (X-Hub-Signature-256). Case does not matter.
var credentialWords = []string{
	"apikey", "auth", "authorization", "bearer", "cookie", "credential", "credentials", "hmac", "jwt", "key", "passphrase",
	"passwd", "password", "pwd", "secret", "sig", "signature", "token",
}

// credentialEndings are ends of words that say the same when the words before them are not kept apart, as
// in ACCESSTOKEN.
var credentialEndings = []string{
	"accesskey", "apikey", "authkey", "passphrase", "passwd", "password", "privatekey", "secret", "secretkey", "sharedkey",
	"signature", "token",
}

// credentialParams are further last words, of parameters alone: code is the key of an Azure function.
var credentialParams = []string{"code", "pass", "pw"}

// IsCredentialHeader reports whether the value of a header is a credential, by the header's name.
func IsCredentialHeader(name string) bool {
	word := lastWord(name)
	if slices.Contains(credentialWords, word) {
		return true
	}
	return slices.ContainsFunc(credentialEndings, func(end string) bool { return strings.HasSuffix(word, end) })
}

// isCredentialParam does so for a parameter of a query, whose name is unescaped.
func isCredentialParam(name string) bool {
	return IsCredentialHeader(name) || slices.Contains(credentialParams, lastWord(name))
}

// lastWord returns the last word of a name that is no number, in lower case.
func lastWord(name string) string {
	end, hasLetter := len(name), false
	for i := len(name) - 1; i >= 0; i-- {
		c := name[i]
		switch {
		case isLetter(c):
			hasLetter = true
			if isUpper(c) && i > 0 && !isUpper(name[i-1]) {
				return wordOf(name[i:end])
			}
		case isDigit(c):
		case hasLetter:
			return wordOf(name[i+1 : end])
		default:
			end = i
		}
	}
	return wordOf(name[:end])
}

// wordOf returns a word in lower case, without a number behind it.
func wordOf(text string) string { return strings.ToLower(strings.TrimRight(text, "0123456789")) }

func isUpper(c byte) bool  { return 'A' <= c && c <= 'Z' }
func isLetter(c byte) bool { return isUpper(c) || 'a' <= c && c <= 'z' }
func isDigit(c byte) bool  { return '0' <= c && c <= '9' }

// isMask reports whether a value is one of the masks.
func isMask(value string) bool { return value == Mask || value == MaskChanged }

// isMaskInPart reports whether a value has a mask in it and something else besides.
func isMaskInPart(value string) bool { return strings.Contains(value, Mask) && !isMask(value) }

// MaskHeaders returns headers with masks in the place of credentials. It does not change its argument; without
// credentials it returns it. An empty value is no credential.
func MaskHeaders(headers []Pair) []Pair {
	masked := headers
	for i, h := range headers {
		if h.Value == "" || !IsCredentialHeader(h.Key) {
			continue
		}
		if &masked[0] == &headers[0] {
			masked = slices.Clone(headers)
		}
		masked[i].Value = Mask
	}
	return masked
}
