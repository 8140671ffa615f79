package job

import (
	"net/url"
	"slices"
	"strings"
)

// MaskedForViewers returns a definition as those see it who may only view jobs: without its payload, with masks in place
// of all values of headers, and of the path and the query of its URL.
func (d *Definition) MaskedForViewers() Definition {
	c := *d
	c.Payload, c.Target.URL = nil, maskPath(d.Target.URL)
	c.Headers = slices.Clone(d.Headers)
	for i := range c.Headers {
		c.Headers[i].Value = Mask
	}
	return c
}

// maskPath returns a URL with a mask in place of what follows its host. Its user is left out.
func maskPath(raw string) string {
	if raw == "" {
		return ""
	}
	u, err := url.Parse(raw)
	if err != nil || u.Host == "" {
		return Mask
	}
	return u.Scheme + "://" + u.Host + "/" + Mask
}

// MaskPaths returns a text, such as the error of an attempt, with a mask in place of what follows the host of each URL in
// it. A URL ends at a space or a quotation mark.
func MaskPaths(text string) string {
	var b strings.Builder
	for {
		i := strings.Index(text, "://")
		if i < 0 {
			b.WriteString(text)
			return b.String()
		}
		rest := text[i+len("://"):]
		end := strings.IndexAny(rest, " \t\r\n\"'`<>")
		if end < 0 {
			end = len(rest)
		}
		b.WriteString(text[:i+len("://")])
		b.WriteString(hostOf(rest[:end]))
		text = rest[end:]
	}
}

// hostOf returns the host of a URL without its scheme, and a mask if anything else is there.
func hostOf(s string) string {
	i := strings.IndexAny(s, "/?#\\")
	authority, more := s, false
	if i >= 0 {
		authority, more = s[:i], true
	}
	if at := strings.LastIndexByte(authority, '@'); at >= 0 {
		authority, more = authority[at+1:], true
	}
	if more {
		return authority + "/" + Mask
	}
	return authority
}
