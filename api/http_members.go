package api

import (
	"github.com/go-json-experiment/json/jsontext"

	"github.com/carillon-io/carillon/apierr"
)

// merge adds the members from path, query and headers to a body. A member that is in both must have the same value.
func (c *webCall) merge(body []byte) ([]byte, error) {
	for _, m := range c.outside {
		end, empty, present, err := findMember(body, m)
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

// findMember reads a whole body, which must be an object. It reports whether the body has a member, and where its last
// member ends.
func findMember(body []byte, m outsideMember) (end int64, empty, present bool, err error) {
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
				return apierr.Errorf(apierr.InvalidField, m.name, "is %s in the body, and %s in %s; want it in one of them, or the same in both",
					clip(string(value)), clip(string(m.value)), m.place)
			}
			present = present || isIt
		}
		return r.token()
	})
	return end, empty, present, err
}

// is reports whether a value in the body is equal to this one.
func (m outsideMember) is(value jsontext.Value) bool {
	if value.Kind() == jsontext.KindString && m.value.Kind() == jsontext.KindString {
		return unquote(value) == unquote(m.value)
	}
	return string(value) == string(m.value)
}
