package job

import (
	"net/netip"
	"net/url"
	"strings"
)

func (t Target) validate(rules Rules) error {
	switch t.Kind {
	case TargetNATS, TargetRequest, TargetJetStream:
		return validateSubject(t.Subject, rules.Prefix)
	case TargetHTTP:
		return t.validateHTTP(rules)
	case TargetHandler:
		if !rules.AllowHandlers {
			return Errorf(CodeInvalidTarget, "target.kind", `"handler" is for programs that embed the engine; want nats, request, jetstream or http`)
		}
		if t.Handler == "" || len(t.Handler) > HandlerBytesMax || indexOutside(t.Handler, "._-/") >= 0 {
			return Errorf(CodeInvalidTarget, "target.name", "must be 1 to %d of A-Z a-z 0-9 . _ - /", HandlerBytesMax)
		}
		return nil
	}
	return Errorf(CodeInvalidTarget, "target.kind", "is missing; want one of %s", joinNames(targetKindNames[1:]))
}

// validateSubject refuses what NATS would refuse, what would reach nobody in particular (wildcards),
// and what would let a job speak to the servers or to Carillon itself.
func validateSubject(subject, prefix string) error {
	bad := func(format string, args ...any) error {
		return Errorf(CodeInvalidTarget, "target.subject", format, args...)
	}
	if subject == "" || len(subject) > SubjectBytesMax {
		return bad("must have 1 to %d characters, has %d", SubjectBytesMax, len(subject))
	}
	if !isPrintable(subject) || strings.ContainsAny(subject, " ") {
		return bad("must be printable text without spaces, such as reports.run")
	}
	for token := range strings.SplitSeq(subject, ".") {
		switch token {
		case "":
			return bad("has an empty token; want tokens joined by single dots, such as reports.run")
		case "*", ">":
			return bad("has the wildcard %q; a run goes to one subject", token)
		}
	}
	if subject[0] == '$' || strings.HasPrefix(subject, "_INBOX.") {
		return bad("subjects that begin with $ or _INBOX belong to NATS; want one of your own")
	}
	if prefix != "" && (subject == prefix || strings.HasPrefix(subject, prefix+".")) {
		return bad("subjects under %q belong to Carillon; want one of your own", prefix)
	}
	return nil
}

func (t Target) validateHTTP(rules Rules) error {
	bad := func(format string, args ...any) error {
		return Errorf(CodeInvalidTarget, "target.url", format, args...)
	}
	if t.URL == "" || len(t.URL) > URLBytesMax {
		return bad("must have 1 to %d characters, has %d", URLBytesMax, len(t.URL))
	}
	u, err := url.Parse(t.URL)
	if err != nil || !isPrintable(t.URL) {
		return bad("is no URL; want one such as https://example.com/hook")
	}
	switch {
	case u.Scheme != "http" && u.Scheme != "https":
		return bad("has the scheme %q; want http or https", u.Scheme)
	case u.Hostname() == "":
		return bad("names no host; want one such as https://example.com/hook")
	case u.User != nil:
		return bad("must not carry a user or password; put credentials into a header")
	case u.Fragment != "":
		return bad("must not have a fragment (#…): it is never sent")
	case hasMaskInPart(t.URL):
		return Errorf(CodeInvalidField, urlField, "has the mask "+Mask+" in a parameter and more besides; want the whole value, or the mask alone to keep the one that is stored")
	case !rules.AllowPrivateTargets && IsPrivateHost(u.Hostname()):
		return bad("%q is a loopback or private address, which this server refuses (--allow-private-targets)", u.Hostname())
	}
	switch t.Method {
	case "POST", "PUT", "PATCH", "DELETE", "GET":
		return nil
	}
	return Errorf(CodeInvalidTarget, "target.method", "%q is not possible; want POST, PUT, PATCH, DELETE or GET", clip(t.Method))
}

// IsPrivateHost tells whether host is written as a loopback, private or link-local address. A name
// that resolves to one is caught when it is dialled.
func IsPrivateHost(host string) bool {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && IsPrivateAddr(addr)
}

// IsPrivateAddr tells whether an address is one that http targets must not reach unless allowed:
// loopback, private, link-local, multicast, unspecified, shared (RFC 6598) or IPv6 wrapping of these.
func IsPrivateAddr(addr netip.Addr) bool {
	addr = addr.Unmap()
	return addr.IsLoopback() || addr.IsPrivate() || addr.IsLinkLocalUnicast() || addr.IsMulticast() ||
		addr.IsUnspecified() || sharedAddrs.Contains(addr) || thisNetwork.Contains(addr)
}

var (
	sharedAddrs = netip.MustParsePrefix("100.64.0.0/10")
	thisNetwork = netip.MustParsePrefix("0.0.0.0/8")
)
