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
type Credentials struct {
	values []string   // searched for as they are, and escaped
	parts  []material // of which a text must not repeat a part either
}

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
		c.addMaterial(material{value, wordLettersMin})
	}
}

// addMaterial adds a text unless one is there already that contains it.
func (c *Credentials) addMaterial(m material) {
	if !slices.ContainsFunc(c.parts, func(other material) bool { return other.wordMin <= m.wordMin && strings.Contains(other.text, m.text) }) {
		c.parts = append(c.parts, m)
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

// AddSecret adds the value of a secret, as it is sent, and all parts that a target may repeat alone. Those of a URL are
// all that follows its scheme: host, port, segments of the path, parameters, their names, and what they contain. A value
// of more than HeadersBytesMax is ignored, because no attempt uses it. Each line is a value of its own, such as one of
// two keys of a signature.
func (c *Credentials) AddSecret(value string) {
	if len(value) > HeadersBytesMax {
		return
	}
	for line := range strings.Lines(value) {
		c.addSecret(strings.TrimRight(line, "\r\n"))
	}
}

// addSecret adds a secret of one line.
func (c *Credentials) addSecret(value string) {
	u, err := url.Parse(value)
	if err != nil || u.Host == "" {
		c.addHeader(value)
		return
	}
	_, rest, _ := strings.Cut(value, "://")
	c.addMaterial(material{rest, wordLettersMinURL})
	c.add(value)
	c.addURL(value, nestedMax)
	for _, text := range []string{u.Host, u.Hostname(), u.RequestURI(), u.EscapedPath(), u.Path} {
		c.add(text)
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
// credential may be in the text as it is, or escaped as in a URL, in JSON or in HTML. A part of a credential is masked
// too, with the whole word: sharedLetters letters and digits in a row, in either case and whatever else stands between
// them, and shorter parts that are whole words. Words of commonWords alone are shown.
//
// If a text repeats parts of credentials so often that the search would take long, only a mask is left of it. A target
// decides what it answers, and many repeat the request in an error; without this, such an answer would carry a
// credential into the history and the dead letters. Whatever a target, a handler or a worker says goes through here.
func (c Credentials) MaskIn(text string) string { return c.MaskInCut(text, false) }

// MaskInCut is MaskIn for a text that may be cut: the result then does not end with a part of a credential either. The
// text need not be UTF-8.
func (c Credentials) MaskInCut(text string, isCut bool) string {
	if len(c.values) == 0 || text == "" {
		return MaskText(text)
	}
	shared := newSharing(text)
	for _, part := range c.parts {
		shared.find(part)
	}
	found := shared.stretches()
	in := newEcho(text)
	for _, value := range c.values {
		found = in.find(value, isCut, found)
	}
	if in.steps > searchStepsMax {
		return Mask
	}
	return MaskText(replaceStretches(text, found))
}

// wholeBytesMin is the length of the shortest credential that MaskWhole masks. A shorter one could be guessed by trying all:
// 12 hexadecimal digits take centuries at the rate of reports.
const wholeBytesMin = 12

// MaskWhole returns a text with masks in place of whole credentials of at least wholeBytesMin bytes, as they are and escaped,
// and of the credentials of the URLs in it. It is for texts whose author sees what becomes of them. To such an author, the
// masks of parts would tell which characters a credential has, a few at a time.
func (c Credentials) MaskWhole(text string) string {
	var found []stretch
	in := newEcho(text)
	for _, value := range c.values {
		if len(value) >= wholeBytesMin {
			found = in.find(value, false, found)
		}
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
