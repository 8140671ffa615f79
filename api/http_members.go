package api

import (
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/carillon-io/carillon/job"
)

// takeQuery reads the parameters of a query, of which none may be unknown.
func (c *webCall) takeQuery(raw string) error {
	if raw == "" {
		return nil
	}
	params, err := url.ParseQuery(raw)
	if err != nil {
		return job.Errorf(job.CodeInvalidField, "query", "cannot be read (%s); want name=value pairs with & between them, and what is special escaped", clip(strings.ToValidUTF8(err.Error(), "")))
	}
	known := append([]string{"tenant"}, c.route.query...)
	for name, values := range params {
		if !slices.Contains(known, name) {
			name = strings.ToValidUTF8(name, "")
			return job.Errorf(job.CodeUnknownField, clip(name), "is no parameter here; %s", advice(name, known, ""))
		}
		if len(values) > 1 && kindOf(name) != kindMany && name != "label" {
			return job.Errorf(job.CodeInvalidField, name, "is there twice; want each parameter once")
		}
		for _, v := range values {
			if !utf8.ValidString(v) {
				return job.Errorf(job.CodeInvalidField, name, "is no UTF-8")
			}
		}
	}
	c.params = params
	return nil
}

// paramKind is what JSON value a parameter becomes.
type paramKind uint8

const (
	kindText paramKind = iota
	kindPlain
	kindMany
)

// kindOf tells of the parameters that are no texts: numbers and booleans, and lists.
func kindOf(name string) paramKind {
	switch name {
	case "limit", "count", "attempts", "with_credentials":
		return kindPlain
	case "schedules", "exclude":
		return kindMany
	}
	return kindText
}

// queryObject makes of the query the request that it stands for. What is wrong with a value is for the
// verb to say: one that should be a number and is none stays a text.
func (c *webCall) queryObject() ([]byte, error) {
	b := []byte{'{'}
	for _, name := range c.route.query {
		values, given := c.params[name]
		if !given {
			continue
		}
		if len(b) > 1 {
			b = append(b, ',')
		}
		if name == "label" {
			var err error
			if b, err = appendLabels(append(b, `"labels":`...), values); err != nil {
				return nil, err
			}
			continue
		}
		b = append(append(b, quoted(name)...), ':')
		b = appendParam(b, kindOf(name), values)
	}
	return append(b, '}'), nil
}

func appendParam(b []byte, kind paramKind, values []string) []byte {
	switch plain := jsontext.Value(values[0]); {
	case kind == kindMany:
		b = append(b, '[')
		for i, v := range values {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(b, quoted(v)...)
		}
		return append(b, ']')
	case kind == kindPlain && plain.IsValid() && slices.Contains([]jsontext.Kind{'t', 'f', '0'}, plain.Kind()):
		return append(b, plain...)
	default:
		return append(b, quoted(values[0])...)
	}
}

func appendLabels(b []byte, values []string) ([]byte, error) {
	b = append(b, '{')
	for i, v := range values {
		key, value, found := strings.Cut(v, "=")
		if !found {
			return nil, job.Errorf(job.CodeInvalidField, "label", "is %q; want key=value, such as label=team=billing", clip(v))
		}
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(append(b, quoted(key)...), ':'), quoted(value)...)
	}
	return append(b, '}'), nil
}

// merge adds to a body what stands outside of it. A member that is in both must be the same in both.
func (c *webCall) merge(body []byte) ([]byte, error) {
	for _, m := range c.outside {
		end, empty, present, err := lookFor(body, m)
		if err != nil {
			return nil, err
		}
		if present {
			continue
		}
		longer := make([]byte, 0, len(body)+len(m.name)+len(m.value)+len(`,"":`))
		longer = append(longer, body[:end]...)
		if !empty {
			longer = append(longer, ',')
		}
		longer = append(append(append(longer, quoted(m.name)...), ':'), m.value...)
		body = append(longer, body[end:]...)
	}
	return body, nil
}

// lookFor reads all of a body, which must be an object, and tells whether it has a member, and where
// its last member ends.
func lookFor(body []byte, m outsideMember) (end int64, empty, present bool, err error) {
	empty = true
	err = read(body, func(r *reader) error {
		if err := r.open(jsontext.KindBeginObject, "an object"); err != nil {
			return err
		}
		end = r.dec.InputOffset()
		for ; r.dec.PeekKind() != jsontext.KindEndObject; end, empty = r.dec.InputOffset(), false {
			name, err := r.dec.ReadValue()
			if err != nil {
				return r.broken(err)
			}
			isIt := unquote(name) == m.name
			value, err := r.dec.ReadValue()
			if err != nil {
				return r.broken(err)
			}
			if isIt && !m.is(value) {
				return job.Errorf(job.CodeInvalidField, m.name, "is %s in the body, and %s in %s; want it in one of them, or the same in both",
					clip(string(value)), clip(string(m.value)), m.place)
			}
			present = present || isIt
		}
		return r.token()
	})
	return end, empty, present, err
}

// is tells whether a value of a body says the same.
func (m outsideMember) is(value jsontext.Value) bool {
	if value.Kind() == jsontext.KindString && m.value.Kind() == jsontext.KindString {
		return unquote(value) == unquote(m.value)
	}
	return string(value) == string(m.value)
}
