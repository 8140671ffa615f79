package job

import (
	"errors"
	"fmt"
	"net/url"

	"github.com/carillon-io/carillon/apierr"
)

// validate checks the members that the kind of target has. Those of other kinds are refused by package api, which
// knows what the caller wrote.
func (t Target) validate(tenant string, rules Rules) error {
	switch t.Kind {
	case TargetNATS, TargetRequest, TargetJetStream:
		return validateSubject(t.Subject, tenant, rules)
	case TargetHTTP:
		return t.validateHTTP(tenant, rules)
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

// validateHTTP checks URL and method of an http target. A URL that is a secret is checked at each launch.
func (t Target) validateHTTP(tenant string, rules Rules) error {
	switch {
	case t.URLSecret != "" && t.URL != "":
		return apierr.Errorf(apierr.InvalidTarget, urlField, "is both a text and a secret; want one of them")
	case t.URLSecret != "": // see validateSecrets
	default:
		if _, err := ParseTargetURL(t.URL, rules.TargetsOf(tenant)); err != nil {
			return apierr.Errorf(apierr.InvalidTarget, urlField, "%s", err)
		}
		if hasMaskInPart(t.URL) {
			return apierr.Errorf(apierr.InvalidField, urlField, "has the mask "+Mask+" in a parameter and more besides; want the whole value, or the mask alone to keep the one that is stored")
		}
	}
	switch t.Method {
	case "POST", "PUT", "PATCH", "DELETE", "GET":
		return nil
	}
	return apierr.Errorf(apierr.InvalidTarget, "target.method", "%q is not possible; want POST, PUT, PATCH, DELETE or GET", apierr.Clip(t.Method))
}

// ParseTargetURL parses the URL of an http target and checks its form and its host, the latter with what the tenant's
// jobs may have. The checks of the host are repeated when it is dialled, with the address that its name then has; see
// [CheckURL]. Errors repeat scheme, host or port at most, never the path or the query.
func ParseTargetURL(raw string, allowed Targets) (*url.URL, error) {
	if raw == "" || len(raw) > URLBytesMax {
		return nil, fmt.Errorf("must have 1 to %d characters, has %d", URLBytesMax, len(raw))
	}
	u, err := url.Parse(raw)
	switch {
	case err != nil || !isPrintable(raw):
		return nil, errors.New("is no URL; want one such as https://example.com/hook")
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, fmt.Errorf("has the scheme %q; want http or https", u.Scheme)
	case u.Hostname() == "":
		return nil, errors.New("names no host; want one such as https://example.com/hook")
	case u.User != nil:
		return nil, errors.New("must not carry a user or password; put credentials into a header")
	case u.Fragment != "":
		return nil, errors.New("must not have a fragment (#…): it is never sent")
	}
	if err := checkHost(u.Hostname()); err != nil {
		return nil, err
	}
	return u, CheckURL(u, allowed)
}
