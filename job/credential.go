package job

import (
	"slices"
	"strings"
)

// Mask replaces a credential wherever a job is shown: in replies, lists, pages, dead letters, the audit log and the
// errors of runs. The log and the store keep the value itself. A put that contains the mask keeps the stored value;
// see [Definition.Unmask]. It has a fixed length, so that it reveals nothing about that of the credential.
const Mask = "********"

// MaskChanged replaces, in After of an audit entry, a credential that the change replaced. In a put it means the same
// as [Mask].
const MaskChanged = Mask + "-changed"

// credentialWords are the last words of the names whose values are credentials: of headers, and of parameters in the
// query of a URL. Words are separated by anything except letters and digits, or by a capital. Numbers after the last
// word are ignored (X-Hub-Signature-256), and so is case. A word too many costs a reader the sight of a harmless
// value; a word too few shows a secret. In doubt a word is in the list.
var credentialWords = []string{
	"apikey", "auth", "authorization", "bearer", "cookie", "credential", "credentials", "hmac", "jwt", "key", "passphrase",
	"passwd", "password", "pwd", "secret", "sig", "signature", "token",
}

// credentialEndings are endings of words that mean the same when words are not separated, as in ACCESSTOKEN.
var credentialEndings = []string{
	"accesskey", "apikey", "authkey", "passphrase", "passwd", "password", "privatekey", "secret", "secretkey", "sharedkey",
	"signature", "token",
}

// credentialParams are further last words, only of parameters: code is the key of an Azure function.
var credentialParams = []string{"code", "pass", "pw"}

// IsCredentialHeader reports whether the value of a header is a credential, judged by the header's name.
func IsCredentialHeader(name string) bool {
	word := lastWord(name)
	if slices.Contains(credentialWords, word) {
		return true
	}
	return slices.ContainsFunc(credentialEndings, func(end string) bool { return strings.HasSuffix(word, end) })
}

// isCredentialParam reports the same for a parameter of a query; name is unescaped. The further words are too common
// in names of headers to count there.
func isCredentialParam(name string) bool {
	return IsCredentialHeader(name) || slices.Contains(credentialParams, lastWord(name))
}

// lastWord returns the last word of a name that is not a number, in lower case.
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

// wordOf returns a word in lower case, without a number at its end.
func wordOf(text string) string { return strings.ToLower(strings.TrimRight(text, "0123456789")) }

func isUpper(c byte) bool  { return 'A' <= c && c <= 'Z' }
func isLetter(c byte) bool { return isUpper(c) || 'a' <= c && c <= 'z' }
func isDigit(c byte) bool  { return '0' <= c && c <= '9' }

// isMask reports whether a value is one of the masks.
func isMask(value string) bool { return value == Mask || value == MaskChanged }

// isMaskInPart reports whether a value contains a mask and something else. Such a value is a mistake of a caller that
// edited a shown definition, so validation refuses it.
func isMaskInPart(value string) bool { return strings.Contains(value, Mask) && !isMask(value) }

// MaskHeaders returns headers with masks in place of credentials. It does not change its argument, and returns it if
// it contains no credentials. An empty value is not a credential.
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
