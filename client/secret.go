package client

import (
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Secret is a reference to a secret, which stands in a definition in the place of the secret itself. The server reads
// the value at each attempt, from the directory that it was given with --secrets-dir. The zero value refers to
// nothing.
type Secret struct {
	Name string `json:"secret"` // TENANT/NAME; the tenant is that of the job
}

// headerMark begins the value of a header that is a reference. No header can have it.
const headerMark = "\x00secret "

// Header returns the reference as a value of [Headers].
func (s Secret) Header() string { return headerMark + s.Name }

// SecretOfHeader returns the reference that a value of [Headers] is, and whether it is one.
func SecretOfHeader(value string) (Secret, bool) {
	name, ok := strings.CutPrefix(value, headerMark)
	return Secret{name}, ok
}

// String returns the reference as JSON, as definitions have it: {"secret":"billing/hook"}.
func (s Secret) String() string {
	text, _ := json.Marshal(s) // cannot fail
	return string(text)
}

// UnmarshalJSONFrom implements [json.UnmarshalerFrom]. An object without a reference is an error, because a job would
// otherwise be put without the secret that its author wanted.
func (s *Secret) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	type plain Secret
	isNull := dec.PeekKind() == jsontext.KindNull
	*s = Secret{}
	if err := json.UnmarshalDecode(dec, (*plain)(s)); err != nil {
		return err
	}
	if s.Name == "" && !isNull {
		return errors.New(`has no reference to a secret; want {"secret": "TENANT/NAME"}`)
	}
	return nil
}

// Headers are headers of a job, by their names. A value is the text of the header, or a reference to a secret that
// [Secret.Header] made; [SecretOfHeader] tells them apart. A program that takes values from others must therefore not
// pass on control characters, which no header may have.
type Headers map[string]string

// headerJSON is one value of Headers in JSON: a string or an object.
type headerJSON struct {
	text   string
	secret Secret
}

// MarshalJSONTo implements [json.MarshalerTo].
func (h headerJSON) MarshalJSONTo(enc *jsontext.Encoder) error {
	if h.secret != (Secret{}) {
		return json.MarshalEncode(enc, h.secret)
	}
	return enc.WriteToken(jsontext.String(h.text))
}

// UnmarshalJSONFrom implements [json.UnmarshalerFrom].
func (h *headerJSON) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	if dec.PeekKind() != jsontext.KindBeginObject {
		return json.UnmarshalDecode(dec, &h.text)
	}
	return json.UnmarshalDecode(dec, &h.secret)
}

// MarshalJSONTo implements [json.MarshalerTo]: an object with its members sorted by name.
func (h Headers) MarshalJSONTo(enc *jsontext.Encoder) error {
	if err := enc.WriteToken(jsontext.BeginObject); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(h)) {
		value := headerJSON{text: h[name]}
		if secret, ok := SecretOfHeader(h[name]); ok {
			value.secret = secret
		}
		if err := enc.WriteToken(jsontext.String(name)); err != nil {
			return err
		}
		if err := value.MarshalJSONTo(enc); err != nil {
			return err
		}
	}
	return enc.WriteToken(jsontext.EndObject)
}

// UnmarshalJSONFrom implements [json.UnmarshalerFrom].
func (h *Headers) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	var values map[string]headerJSON
	if err := json.UnmarshalDecode(dec, &values); err != nil {
		return err
	}
	*h = nil
	if values != nil {
		*h = make(Headers, len(values))
	}
	for name, value := range values {
		if (*h)[name] = value.text; value.secret != (Secret{}) {
			(*h)[name] = value.secret.Header()
		}
	}
	return nil
}

// MarshalJSON implements [encoding/json.Marshaler].
func (h Headers) MarshalJSON() ([]byte, error) { return marshalWith(h.MarshalJSONTo) }

// UnmarshalJSON implements [encoding/json.Unmarshaler].
func (h *Headers) UnmarshalJSON(text []byte) error {
	return h.UnmarshalJSONFrom(jsontext.NewDecoder(strings.NewReader(string(text))))
}

// marshalWith returns what a method writes.
func marshalWith(write func(*jsontext.Encoder) error) ([]byte, error) {
	var b strings.Builder
	if err := write(jsontext.NewEncoder(&b)); err != nil {
		return nil, err
	}
	return []byte(strings.TrimSuffix(b.String(), "\n")), nil
}

// targetJSON is a Target in JSON, with one member for both forms of a URL.
type targetJSON struct {
	Kind        string      `json:"kind"`
	Subject     string      `json:"subject,omitempty"`
	URL         *headerJSON `json:"url,omitempty"`
	Method      string      `json:"method,omitempty"`
	Name        string      `json:"name,omitempty"`
	MaxInFlight uint32      `json:"max_in_flight,omitzero"`
	Sign        Secret      `json:"sign,omitzero"`
	ClientCert  Secret      `json:"client_cert,omitzero"`
}

// MarshalJSONTo implements [json.MarshalerTo].
func (t Target) MarshalJSONTo(enc *jsontext.Encoder) error {
	out := targetJSON{
		Kind: t.Kind, Subject: t.Subject, Method: t.Method, Name: t.Name, MaxInFlight: t.MaxInFlight,
		Sign: t.Sign, ClientCert: t.ClientCert,
	}
	if t.URL != "" || t.URLSecret != (Secret{}) {
		out.URL = &headerJSON{text: t.URL, secret: t.URLSecret}
	}
	return json.MarshalEncode(enc, out)
}

// UnmarshalJSONFrom implements [json.UnmarshalerFrom].
func (t *Target) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	var in targetJSON
	if err := json.UnmarshalDecode(dec, &in); err != nil {
		return err
	}
	*t = Target{
		Kind: in.Kind, Subject: in.Subject, Method: in.Method, Name: in.Name, MaxInFlight: in.MaxInFlight,
		Sign: in.Sign, ClientCert: in.ClientCert,
	}
	if in.URL != nil {
		t.URL, t.URLSecret = in.URL.text, in.URL.secret
	}
	return nil
}

// MarshalJSON implements [encoding/json.Marshaler].
func (t Target) MarshalJSON() ([]byte, error) { return marshalWith(t.MarshalJSONTo) }

// UnmarshalJSON implements [encoding/json.Unmarshaler].
func (t *Target) UnmarshalJSON(text []byte) error {
	return t.UnmarshalJSONFrom(jsontext.NewDecoder(strings.NewReader(string(text))))
}
