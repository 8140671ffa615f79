package job

import (
	"encoding/base64"
	"net/url"
	"slices"
	"sort"
	"strings"
)

// credentialBytesMin is the length of the shortest credential that texts are searched for. A shorter one would be
// found in unrelated words. A larger minimum would show short passwords.
const credentialBytesMin = 4

// Credentials are the values that the runs of a job carry and that no text about these runs may contain. The zero
// value has none.
type Credentials struct{ values []string }

// CredentialsOf returns the credentials in headers and in the URL of a target: as they are sent, and the parts that a
// target may repeat alone, such as the token after the word Bearer.
func CredentialsOf(headers []Pair, t Target) (c Credentials) {
	for _, h := range headers {
		if IsCredentialHeader(h.Key) {
			c.addHeader(h.Value)
		}
	}
	c.addURL(t.URL, nestedMax)
	return c
}

// add adds a value, unless it is too short.
func (c *Credentials) add(value string) {
	if len(value) >= credentialBytesMin && !slices.Contains(c.values, value) {
		c.values = append(c.values, value)
	}
}

// addURL adds the credentials of a URL, and those of the URLs nested in it down to the given depth.
func (c *Credentials) addURL(raw string, depth int) {
	for _, value := range credentialsOfURL(raw) {
		c.add(value)
		c.add(unescaped(value))
		if link, isURL := urlIn(value); isURL && depth > 0 {
			c.addURL(link, depth-1)
		}
	}
}

// addHeader adds the value of a header: a scheme and a token, pairs separated by semicolons, or one text.
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

// secretSegmentMin is the length of the shortest segment of the path of a secret URL that texts are searched for.
const secretSegmentMin = 8

// AddSecret adds the value of a secret, as it is sent, and the parts that a target may repeat alone. Of a URL these are
// the host, the path with and without the query, the longer segments of the path, and the values of the query.
func (c *Credentials) AddSecret(value string) {
	c.addHeader(value)
	u, err := url.Parse(value)
	if err != nil || u.Host == "" {
		return
	}
	c.addURL(value, nestedMax)
	c.add(u.Host)
	c.add(u.Hostname())
	for _, text := range []string{u.RequestURI(), u.EscapedPath(), u.Path} {
		c.add(text)
	}
	for segment := range strings.SplitSeq(u.Path, "/") {
		if len(segment) >= secretSegmentMin {
			c.add(segment)
		}
	}
	for _, list := range u.Query() {
		for _, one := range list {
			c.add(one)
		}
	}
}

// addBasic adds user and password of HTTP basic authentication, together and the password alone.
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

// MaskIn returns a text with masks in place of these credentials, and of those of the URLs in it. Each character of a
// credential may be in the text as it is, or escaped as in a URL, in JSON or in HTML. If a text repeats parts of
// credentials so often that the search would take long, only a mask is left of it. A target decides what it answers,
// and many repeat the request in an error; without this, such an answer would carry a credential into the history and
// the dead letters.
func (c Credentials) MaskIn(text string) string { return c.MaskInCut(text, false) }

// MaskInCut is MaskIn for a text that may be cut: the result then does not end with a part of a credential either. A
// credential of which a bound cut off the end is not found as a whole, and most of it would be shown.
func (c Credentials) MaskInCut(text string, isCut bool) string {
	if len(c.values) == 0 || text == "" {
		return MaskText(text)
	}
	var found []stretch
	in := newEcho(text)
	for _, value := range c.values {
		found = in.find(value, isCut, found)
	}
	if in.steps > searchStepsMax {
		return Mask
	}
	return MaskText(replaceStretches(text, found))
}

// replaceStretches returns a text in which each group of overlapping parts is replaced by one mask if it contains a
// whole credential, and removed otherwise.
func replaceStretches(text string, parts []stretch) string {
	sort.Slice(parts, func(i, j int) bool {
		a, b := parts[i], parts[j]
		return a.from < b.from || a.from == b.from && a.to > b.to
	})
	var b strings.Builder
	done := 0
	for len(parts) > 0 {
		one := parts[0]
		for parts = parts[1:]; len(parts) > 0 && parts[0].from < one.to; parts = parts[1:] {
			one.to, one.isWhole = max(one.to, parts[0].to), one.isWhole || parts[0].isWhole
		}
		b.WriteString(text[done:one.from])
		if one.isWhole {
			b.WriteString(Mask)
		}
		done = one.to
	}
	return b.String() + text[done:]
}
