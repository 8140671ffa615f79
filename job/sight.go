package job

import (
	"net/url"
	"slices"
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
