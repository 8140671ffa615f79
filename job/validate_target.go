package job

import (
	"net/url"

	"github.com/carillon-io/carillon/apierr"
)

// validate checks the members that the kind of target has. Those of other kinds are refused by package api, which
// knows what the caller wrote.
func (t Target) validate(rules Rules) error {
	switch t.Kind {
	case TargetNATS, TargetRequest, TargetJetStream:
		return validateSubject(t.Subject, rules)
	case TargetHTTP:
		return t.validateHTTP(rules)
	case TargetHandler:
		if !rules.AllowHandlers {
			return apierr.Errorf(apierr.InvalidTarget, "target.kind", `"handler" is for programs that embed the engine; want nats, request, jetstream or http`)
		}
		if t.Handler == "" || len(t.Handler) > HandlerBytesMax || apierr.IndexOutside(t.Handler, "._-/") >= 0 {
			return apierr.Errorf(apierr.InvalidTarget, "target.name", "must be 1 to %d of A-Z a-z 0-9 . _ - /", HandlerBytesMax)
		}
		return nil
	}
	return apierr.Errorf(apierr.InvalidTarget, "target.kind", "is missing; want one of %s", joinNames(targetKindNames[1:]))
}

// validateHTTP checks URL and method of an http target. The checks of the host are repeated at each launch, with the
// settings that the server has then; see [CheckURL].
func (t Target) validateHTTP(rules Rules) error {
	bad := func(format string, args ...any) error {
		return apierr.Errorf(apierr.InvalidTarget, "target.url", format, args...)
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
		return apierr.Errorf(apierr.InvalidField, urlField, "has the mask "+Mask+" in a parameter and more besides; want the whole value, or the mask alone to keep the one that is stored")
	}
	for _, err := range []error{checkHost(u.Hostname()), CheckURL(u, rules.AllowPrivateTargets)} {
		if err != nil {
			return bad("%s", err)
		}
	}
	switch t.Method {
	case "POST", "PUT", "PATCH", "DELETE", "GET":
		return nil
	}
	return apierr.Errorf(apierr.InvalidTarget, "target.method", "%q is not possible; want POST, PUT, PATCH, DELETE or GET", apierr.Clip(t.Method))
}
