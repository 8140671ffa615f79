package job

import (
	"slices"
	"strings"
)

// HasCredentials reports whether a definition has a credential: whether it is shown otherwise than it is stored.
func (d *Definition) HasCredentials() bool {
	for _, h := range d.Headers {
		if h.Value != "" && IsCredentialHeader(h.Key) {
			return true
		}
	}
	return MaskURL(d.Target.URL) != d.Target.URL
}

// HasMasks reports whether a definition has a mask in the place of a credential.
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

// rewriteCredentials returns a copy with each credential replaced by what with returns for its field, its
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

// urlField is the field of a definition that has the credentials of its URL.
const urlField = "target.url"

// credentialsAt are the credentials of a definition by their places, read once.
type credentialsAt struct {
	headers []Pair
	url     map[string]string
}

func (d *Definition) credentialsAt() credentialsAt {
	return credentialsAt{headers: d.Headers, url: credentialsOfURL(d.Target.URL)}
}

// get returns the credential at a place. Of headers that differ by their case alone it is the one that is spelled so.
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

// Masked returns the definition as it is shown: with masks in the place of credentials. It shares what it
// does not change with d.
func (d *Definition) Masked() Definition {
	c := *d
	c.Headers, c.Target.URL = MaskHeaders(d.Headers), MaskURL(d.Target.URL)
	return c
}

// MaskedAfter is Masked for a definition that took the place of another: a credential that is not the one
// that stood there before shows as [MaskChanged]. Masks stay as they are.
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

// Unmask returns the definition with the credentials of the stored one in the place of masks. A mask stands for
// the value that the stored definition has in the same header, or in the same parameter of the URL; stored
// nil is no job.
//
// A mask without such a value is an [Error] with [CodeInvalidField]. So is one if the runs go elsewhere than those of
// the stored definition: to another scheme, host or port, subject or handler. Who may change a job but not read its
// credentials could otherwise have them sent to himself.
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

// checkMask refuses a mask in a field that stands for nothing, or for what is not to go where the runs will go.
func (d *Definition) checkMask(stored *Definition, field string, found bool) error {
	bad := func(format string, args ...any) error {
		return Errorf(CodeInvalidField, field, "has the mask "+Mask+format, args...)
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

// checkUnmasked checks the bounds that credentials count against.
func (d *Definition) checkUnmasked() error {
	if len(d.Target.URL) > URLBytesMax {
		return Errorf(CodeTooLarge, urlField, "has %d characters with the credentials that masks stand for; at most %d are allowed", len(d.Target.URL), URLBytesMax)
	}
	return validateHeaders(d.Headers)
}

// destination names who gets what the runs of a job carry, and how: a stream keeps it, a subscriber need not.
func destination(t Target) string {
	switch t.Kind {
	case TargetHTTP:
		return originOf(t.URL)
	case TargetHandler:
		return "handler " + t.Handler
	default:
		return "subject " + t.Subject + " of kind " + t.Kind.String()
	}
}
