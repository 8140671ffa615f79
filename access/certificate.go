package access

import (
	"strings"
)

// certBytesMax bounds the name of a certificate in the file: the longest DNS name, and a URI of a usual size, fit.
const certBytesMax = 512

// addCert makes a principal the one of certificates with a name; "" for a principal that is known by other means alone. The
// name of the principal itself counts for nothing there: it was not chosen with regard to what an authority issues.
func (t *Table) addCert(n *node, p *Principal, name string) error {
	if name == "" {
		return nil
	}
	if len(name) > certBytesMax || strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return wrong(n, "cert of %s is no name of a certificate; want a DNS name, an e-mail address or a URI of its SAN, such as build.example.com, of at most %d bytes", p.Name, certBytesMax)
	}
	if first := t.byCert[name]; first != nil {
		return wrong(n, "%s and %s (line %d) have the same cert; each principal needs its own", p.Name, first.Name, first.line)
	}
	t.byCert[name] = p
	p.shown |= byCert
	return nil
}

// WhoseCertificate returns the caller whose client certificate has some names, which the way in has verified: the
// principal whose cert is the first of them that one has; the zero value if none has.
func (t *Table) WhoseCertificate(names []string) Who {
	for _, name := range names {
		if p := t.byCert[name]; p != nil {
			return t.whoIs(p, "cert")
		}
	}
	return Who{}
}
