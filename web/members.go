package web

import (
	"github.com/go-json-experiment/json/jsontext"

	"github.com/carillon-io/carillon/api"
	"github.com/carillon-io/carillon/apierr"
)

// merge adds the members from path, query and headers to a body. A member that is in both must have the same value.
// It works on the text and inserts members at the end, because a body that is decoded and encoded again could change
// what the caller wrote, such as its payload. The result is decoded once more by the verb, strictly, so merge need
// not know which members a verb has.
func (c *call) merge(body []byte) ([]byte, error) {
	for _, m := range c.outside {
		end, isEmpty, isThere, err := api.FindMember(body, m.name, m.check)
		if err != nil {
			return nil, err
		}
		if isThere {
			continue
		}
		longer := make([]byte, 0, len(body)+len(m.name)+len(m.value)+len(`,"":`))
		longer = append(longer, body[:end]...)
		if !isEmpty {
			longer = append(longer, ',')
		}
		longer = append(append(append(longer, quoted(m.name)...), ':'), m.value...)
		body = append(longer, body[end:]...)
	}
	return body, nil
}

// check refuses a value in the body that is not equal to this one.
func (m outsideMember) check(value jsontext.Value) error {
	if m.is(value) {
		return nil
	}
	return apierr.Errorf(apierr.InvalidField, m.name, "is %s in the body, and %s in %s; want it in one of them, or the same in both",
		apierr.Clip(string(value)), apierr.Clip(string(m.value)), m.place)
}

// is reports whether a value in the body is equal to this one. Texts are compared without their escapes; other values
// as they are written, so 7 and 7.0 differ. Comparing the texts of numbers is stricter than comparing their values,
// and cannot round one that exceeds 2^53.
func (m outsideMember) is(value jsontext.Value) bool {
	if value.Kind() == jsontext.KindString && m.value.Kind() == jsontext.KindString {
		return unquoted(value) == unquoted(m.value)
	}
	return string(value) == string(m.value)
}

// unquoted returns the text of a JSON string.
func unquoted(v jsontext.Value) string {
	b, _ := jsontext.AppendUnquote(nil, v)
	return string(b)
}
