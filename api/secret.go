package api

import (
	"github.com/go-json-experiment/json/jsontext"

	"github.com/carillon-io/carillon/apierr"
	"github.com/carillon-io/carillon/job"
)

// This file reads and writes references to secrets: {"secret": "billing/hook"} in the place of a text.

// secretMembers are the members of a reference.
var secretMembers = object[job.SecretRef]{
	"secret": func(r *reader, ref *job.SecretRef) error {
		name, err := r.text()
		*ref = job.SecretRef(name)
		return err
	},
}

// secret reads a reference. A text in its place is refused without being repeated, because it is probably the secret
// itself.
func secret[T any](at func(*T) *job.SecretRef) setter[T] {
	return func(r *reader, v *T) error {
		ref, err := r.secret(`{"secret": "TENANT/NAME"}; the secret itself never stands in a definition`)
		*at(v) = ref
		return err
	}
}

// secret reads an object with a reference, which must not be empty.
func (r *reader) secret(want string) (ref job.SecretRef, err error) {
	if kind := r.dec.PeekKind(); kind != jsontext.KindBeginObject && kind != jsontext.KindInvalid {
		return "", r.mistyped(kind, want)
	}
	if err := secretMembers.read(r, &ref); err != nil {
		return "", err
	}
	if ref == "" {
		return "", apierr.Errorf(apierr.InvalidField, r.path(), "has no reference; want %s", want)
	}
	return ref, nil
}

// textOrSecret reads a text or a reference; the other one of the results is empty.
func (r *reader) textOrSecret() (text string, ref job.SecretRef, err error) {
	if r.dec.PeekKind() == jsontext.KindBeginObject {
		ref, err = r.secret(`a string or {"secret": "TENANT/NAME"}`)
		return "", ref, err
	}
	text, err = r.text()
	return text, "", err
}

// url reads the URL of a target.
func url(r *reader, t *job.Target) (err error) {
	t.URL, t.URLSecret, err = r.textOrSecret()
	return err
}

// headers reads the headers of a job into its two lists.
func headers(r *reader, p *putRequest) error {
	if err := r.open(jsontext.KindBeginObject, "an object of strings"); err != nil {
		return err
	}
	var plain, secret []job.Pair
	for r.dec.PeekKind() != jsontext.KindEndObject {
		name, err := r.dec.ReadValue()
		if err != nil {
			return r.broken(err)
		}
		key := unquote(name)
		text, ref, err := r.textOrSecret()
		if err != nil {
			return err
		}
		if ref != "" {
			secret = inOrder(secret, job.Pair{Key: key, Value: string(ref)})
		} else {
			plain = inOrder(plain, job.Pair{Key: key, Value: text})
		}
		if len(plain)+len(secret) > job.HeadersMax {
			return apierr.Errorf(apierr.TooLarge, r.parent(), "has more than %d entries, which is the limit", job.HeadersMax)
		}
	}
	p.def.Headers, p.def.SecretHeaders = plain, secret
	return r.token()
}

// appendHeaders writes the headers of a job as a member, sorted by name, as [appendPairs] does.
func appendHeaders(b []byte, d *job.Definition) []byte {
	if len(d.SecretHeaders) == 0 {
		return appendPairs(b, "headers", d.Headers)
	}
	b = append(appendMember(b, "headers"), '{')
	plain, secret := d.Headers, d.SecretHeaders
	for i := 0; len(plain)+len(secret) > 0; i++ {
		if i > 0 {
			b = append(b, ',')
		}
		if len(secret) == 0 || len(plain) > 0 && plain[0].Key < secret[0].Key {
			b = appendQuoted(append(appendQuoted(b, plain[0].Key), ':'), plain[0].Value)
			plain = plain[1:]
			continue
		}
		b = appendSecret(append(appendQuoted(b, secret[0].Key), ':'), job.SecretRef(secret[0].Value))
		secret = secret[1:]
	}
	return append(b, '}')
}

// appendSecret writes a reference.
func appendSecret(b []byte, ref job.SecretRef) []byte {
	return append(appendQuoted(append(b, `{"secret":`...), string(ref)), '}')
}
