package job

import (
	"slices"
	"strings"

	"github.com/carillon-io/carillon/apierr"
)

// HasCredentials reports whether a definition contains a credential, so that it is shown differently than it is
// stored. A header with a mask as its value counts too.
func (d *Definition) HasCredentials() bool {
	for _, h := range d.Headers {
		if h.Value != "" && IsCredentialHeader(h.Key) {
			return true
		}
	}
	return MaskURL(d.Target.URL) != d.Target.URL
}

// HasMasks reports whether a definition contains a mask in place of a credential.
func (d *Definition) HasMasks() bool {
	for _, h := range d.Headers {
		if isMask(h.Value) && IsCredentialHeader(h.Key) {
			return true
		}
	}
	for _, value := range credentialsOfURL(d.Target.URL) {
		if isMask(unescaped(value)) {
			return true
		}
	}
	return false
}

// rewriteCredentials returns a copy in which each credential is replaced by the result of with for its field, its
// place within that field, and its value.
func (d *Definition) rewriteCredentials(with func(field, place, value string) string) Definition {
	c := *d
	c.Headers = slices.Clone(d.Headers)
	for i, h := range c.Headers {
		if h.Value != "" && IsCredentialHeader(h.Key) {
			c.Headers[i].Value = with("headers."+h.Key, h.Key, h.Value)
		}
	}
	c.Target.URL = rewriteURL(d.Target.URL, func(place, value string) string { return with(urlField, place, value) })
	return c
}

// urlField is the field of a definition whose URL may contain credentials.
const urlField = "target.url"

// credentialsAt are the credentials of a definition by their places, read once.
type credentialsAt struct {
	headers []Pair
	url     map[string]string
}

// credentialsAt reads the credentials once, because each lookup in a URL would parse all of it.
func (d *Definition) credentialsAt() credentialsAt {
	return credentialsAt{headers: d.Headers, url: credentialsOfURL(d.Target.URL)}
}

// get returns the credential at a place. Of headers whose names differ only in case, it returns the one with the same
// spelling.
func (c credentialsAt) get(field, place string) (value string, found bool) {
	if field == urlField {
		value, found = c.url[place]
		return value, found
	}
	for _, h := range c.headers {
		if h.Key == place {
			return h.Value, h.Value != ""
		}
	}
	for _, h := range c.headers {
		if strings.EqualFold(h.Key, place) {
			return h.Value, h.Value != ""
		}
	}
	return "", false
}

// Masked returns the definition as it is shown: with masks in place of credentials. The result shares with d what it
// does not change.
func (d *Definition) Masked() Definition {
	c := *d
	c.Headers, c.Target.URL = MaskHeaders(d.Headers), MaskURL(d.Target.URL)
	return c
}

// MaskedAfter is Masked for a definition that replaced another: a credential that differs from the former one at its
// place is shown as [MaskChanged]. Masks stay as they are.
func (d *Definition) MaskedAfter(before *Definition) Definition {
	had := before.credentialsAt()
	return d.rewriteCredentials(func(field, place, value string) string {
		old, found := had.get(field, place)
		switch {
		case isMask(unescaped(value)):
			return unescaped(value)
		case found && old != value && !isMask(unescaped(old)):
			return MaskChanged
		}
		return Mask
	})
}

// Unmask returns the definition with its masks replaced by the credentials of the stored one. A mask stands for the
// value that stored has in the same header, or in the same parameter of the URL; a nil stored means that there is no
// job.
//
// A mask without such a value is an [apierr.Error] with the code invalid_field. So is a mask in a definition whose
// runs go elsewhere than those of stored: to another scheme, host, port, subject or handler. Otherwise a caller who
// may change a job but not read its credentials could have them sent to a target of its own.
func (d *Definition) Unmask(stored *Definition) (Definition, error) {
	var refused error
	var have credentialsAt
	if stored != nil {
		have = stored.credentialsAt()
	}
	c := d.rewriteCredentials(func(field, place, value string) string {
		if !isMask(value) && (field != urlField || !isMask(unescaped(value))) || refused != nil {
			return value
		}
		kept, found := have.get(field, place)
		refused = d.checkMask(stored, field, found)
		return kept
	})
	if refused == nil {
		refused = c.checkUnmasked()
	}
	return c, refused
}

// checkMask refuses a mask that stands for nothing, or for a credential that must not go where the runs will go.
func (d *Definition) checkMask(stored *Definition, field string, found bool) error {
	bad := func(format string, args ...any) error {
		return apierr.Errorf(apierr.InvalidField, field, "has the mask "+Mask+format, args...)
	}
	switch {
	case stored == nil:
		return bad(" in the place of a credential, and there is no job %q that has one to keep; give the value (an export has it with --with-credentials)", d.Name)
	case !found:
		return bad(" in the place of a credential, and the job has none there to keep; give the value")
	case destination(d.Target) != destination(stored.Target):
		return bad(", which keeps the stored credential only while the target stays %s; give the value to send it to %s", destination(stored.Target), destination(d.Target))
	}
	return nil
}

// checkUnmasked checks the bounds that include the lengths of credentials. Validate saw the masks, which are shorter
// than many credentials.
func (d *Definition) checkUnmasked() error {
	if len(d.Target.URL) > URLBytesMax {
		return apierr.Errorf(apierr.TooLarge, urlField, "has %d characters with the credentials that masks stand for; at most %d are allowed", len(d.Target.URL), URLBytesMax)
	}
	return validateHeaders(d.allHeaders())
}

// destination returns who receives what the runs of a job carry, and in which way: a stream keeps it, a subscriber
// need not. It leaves out the path of a URL, because the server of a host receives the requests for all of its paths.
func destination(t Target) string {
	switch t.Kind {
	case TargetHTTP:
		if t.URLSecret != "" {
			return "the URL in the secret " + string(t.URLSecret)
		}
		return originOf(t.URL)
	case TargetHandler:
		return "handler " + t.Handler
	default:
		return "subject " + t.Subject + " of kind " + t.Kind.String()
	}
}
