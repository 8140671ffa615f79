package job

import (
	"cmp"
	"encoding/base64"
	"html"
	"net/url"
	"slices"
	"strings"
)

// credentialBytesMin is the length of the shortest credential that is looked for in texts: a shorter one
// would be found in words that have nothing to do with it.
const credentialBytesMin = 4

// Credentials are the values that a job's runs carry and that no text about them may have. The zero value
// is none.
type Credentials struct{ values []string }

// CredentialsOf returns the credentials among headers and in the URL of a target: as they are sent, and the
// parts that a target may repeat by themselves, such as the token behind the word Bearer.
func CredentialsOf(headers []Pair, t Target) (c Credentials) {
	for _, h := range headers {
		if IsCredentialHeader(h.Key) {
			c.addHeader(h.Value)
		}
	}
	for _, value := range credentialsOfURL(t.URL) {
		c.add(value)
		c.add(unescaped(value))
	}
	slices.SortFunc(c.values, func(a, b string) int { // the longest first, for it may have others in it
		return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a, b))
	})
	return c
}

// add adds a value, and the forms in which a target may repeat it inside a URL, a text of JSON or a page.
func (c *Credentials) add(value string) {
	if len(value) < credentialBytesMin {
		return
	}
	inJSON := strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(value)
	for _, form := range []string{value, url.QueryEscape(value), url.PathEscape(value), inJSON, html.EscapeString(value)} {
		if !slices.Contains(c.values, form) {
			c.values = append(c.values, form)
		}
	}
}

// addHeader adds the value of a header: a scheme and a token, pairs with semicolons between them, or one text.
func (c *Credentials) addHeader(value string) {
	c.add(value)
	if scheme, token, found := strings.Cut(value, " "); found {
		c.add(strings.TrimSpace(token))
		if strings.EqualFold(scheme, "basic") {
			c.addBasic(strings.TrimSpace(token))
		}
	}
	for pair := range strings.SplitSeq(value, ";") {
		if _, part, found := strings.Cut(pair, "="); found {
			c.add(strings.TrimSpace(part))
		}
	}
}

// addBasic adds user and password of HTTP's basic authentication, and the password alone.
func (c *Credentials) addBasic(token string) {
	plain, err := base64.StdEncoding.DecodeString(token)
	if err != nil {
		return
	}
	c.add(string(plain))
	if _, password, found := strings.Cut(string(plain), ":"); found {
		c.add(password)
	}
}

// MaskIn returns a text with masks in the place of the credentials, and of those of the URLs in it.
func (c Credentials) MaskIn(text string) string { return c.MaskInCut(text, false) }

// MaskInCut is MaskIn for a text that may be cut: then it does not end in a part of a credential either.
func (c Credentials) MaskInCut(text string, isCut bool) string {
	for _, value := range c.values {
		text = strings.ReplaceAll(text, value, Mask)
	}
	if isCut {
		text = text[:len(text)-c.partAtEnd(text)]
	}
	return MaskText(text)
}

// partAtEnd returns the length of the longest beginning of a credential that a text ends in.
func (c Credentials) partAtEnd(text string) (longest int) {
	for _, value := range c.values {
		for n := min(len(value), len(text)); n > longest; n-- {
			if strings.HasSuffix(text, value[:n]) {
				longest = n
			}
		}
	}
	return longest
}
