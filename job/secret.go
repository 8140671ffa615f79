package job

import (
	"strings"

	"github.com/carillon-io/carillon/apierr"
)

// SecretRef names a secret in the form TENANT/NAME. A definition contains it in the place of the secret, whose value
// only the sender of an attempt reads. "" names none.
type SecretRef string

// Bounds of secrets.
const (
	SecretNameBytesMax = 128      // of the part after the slash
	SecretBytesMax     = 64 << 10 // of the value
)

// secretForm is what a reference looks like, for errors. No error repeats a reference that is malformed, because a
// caller may have written the secret itself there.
const secretForm = `want {"secret": "TENANT/NAME"}, with the job's own tenant and a name of 1 to 128 of A-Z a-z 0-9 . _ - that does not begin with a dot`

// Cut returns the two parts of a reference, and whether it is well-formed. Neither part of a well-formed one can
// leave the directory that it stands for: neither has a slash or begins with a dot.
func (r SecretRef) Cut() (tenant, name string, ok bool) {
	tenant, name, ok = strings.Cut(string(r), "/")
	if !ok || ValidateTenant(tenant) != nil {
		return "", "", false
	}
	if name == "" || len(name) > SecretNameBytesMax || name[0] == '.' || apierr.IndexOutside(name, "._-") >= 0 {
		return "", "", false
	}
	return tenant, name, true
}

// JSON returns the reference as an object: the form in which definitions, pages and dead letters show it. It has no
// character that needs an escape if the reference is well-formed.
func (r SecretRef) JSON() string { return `{"secret":"` + string(r) + `"}` }

// validate checks a reference of a job of a tenant.
func (r SecretRef) validate(field, tenant string, rules Rules) error {
	of, _, ok := r.Cut()
	switch {
	case !ok:
		return apierr.Errorf(apierr.InvalidField, field, "is no reference to a secret; %s; the secret itself never stands in a definition", secretForm)
	case of != tenant:
		return apierr.Errorf(apierr.InvalidField, field, "names the secret %s of another tenant; a job of tenant %q may name secrets as %s/NAME only", r, tenant, tenant)
	case !rules.Secrets:
		return apierr.Errorf(apierr.InvalidField, field, "names the secret %s, and this server has no secrets: it runs without --secrets-dir", r)
	}
	return nil
}

// HasSecrets reports whether a definition names a secret.
func (d *Definition) HasSecrets() bool { return d.secretField() != "" }

// secretField returns the first field of a definition that names a secret; "" if none does.
func (d *Definition) secretField() string {
	switch t := &d.Target; {
	case t.URLSecret != "":
		return urlField
	case t.Sign != "":
		return "target.sign"
	case t.ClientCert != "":
		return "target.client_cert"
	case len(d.SecretHeaders) > 0:
		return "headers." + apierr.Clip(d.SecretHeaders[0].Key)
	}
	return ""
}

// validateSecrets checks the references of a definition.
func (d *Definition) validateSecrets(rules Rules) error {
	field := d.secretField()
	if field == "" {
		return nil
	}
	if d.Target.Kind != TargetHTTP {
		return apierr.Errorf(apierr.InvalidField, field, "names a secret, which only a target of kind http can have, not one of kind %q", d.Target.Kind)
	}
	for _, one := range []struct {
		field string
		ref   SecretRef
	}{{urlField, d.Target.URLSecret}, {"target.sign", d.Target.Sign}, {"target.client_cert", d.Target.ClientCert}} {
		if one.ref == "" {
			continue
		}
		if err := one.ref.validate(one.field, d.Tenant, rules); err != nil {
			return err
		}
	}
	if d.Target.ClientCert != "" && strings.HasPrefix(strings.ToLower(d.Target.URL), "http:") {
		return apierr.Errorf(apierr.InvalidTarget, "target.client_cert", "needs TLS, and the URL begins with http:; want an https URL, or no client certificate")
	}
	return d.validateSecretHeaders(rules)
}

// validateSecretHeaders checks the headers whose values are secrets, and those that a signature adds.
func (d *Definition) validateSecretHeaders(rules Rules) error {
	if d.Target.Sign != "" {
		for _, list := range [][]Pair{d.Headers, d.SecretHeaders} {
			for _, h := range list {
				if IsSignatureHeader(h.Key) {
					return apierr.Errorf(apierr.InvalidField, "headers."+apierr.Clip(h.Key), "is set by target.sign; leave one of them out")
				}
			}
		}
	}
	for _, h := range d.SecretHeaders {
		if err := SecretRef(h.Value).validate("headers."+apierr.Clip(h.Key), d.Tenant, rules); err != nil {
			return err
		}
	}
	return nil
}

// signatureHeaders are the headers of Standard Webhooks.
var signatureHeaders = [...]string{"webhook-id", "webhook-timestamp", "webhook-signature"}

// IsSignatureHeader reports whether a signed request has a header of this name, which then no job can set.
func IsSignatureHeader(name string) bool {
	for _, one := range signatureHeaders {
		if strings.EqualFold(name, one) {
			return true
		}
	}
	return false
}

// allHeaders returns the headers of a definition whatever their values are, sorted by name; a secret one has its
// reference as its value. The result may be d.Headers itself.
func (d *Definition) allHeaders() []Pair { return WithSecretHeaders(d.Headers, d.SecretHeaders) }

// WithSecretHeaders returns headers and secret ones in one list, sorted by name, with references as JSON in the places
// of values. The result is headers itself if there are no secret ones.
func WithSecretHeaders(headers, secret []Pair) []Pair {
	if len(secret) == 0 {
		return headers
	}
	all := make([]Pair, 0, len(headers)+len(secret))
	for len(headers) > 0 && len(secret) > 0 {
		if headers[0].Key < secret[0].Key {
			all, headers = append(all, headers[0]), headers[1:]
			continue
		}
		all, secret = append(all, Pair{secret[0].Key, SecretRef(secret[0].Value).JSON()}), secret[1:]
	}
	all = append(all, headers...)
	for _, h := range secret {
		all = append(all, Pair{h.Key, SecretRef(h.Value).JSON()})
	}
	return all
}
