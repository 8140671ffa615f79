package api

import "github.com/go-json-experiment/json/jsontext"

// FindMember reads a whole body, which must be one JSON object, and finds a member of it: it reports whether the body
// has the member, whether it has none at all, and at which byte its last member ends. If the member is there, check
// gets its value, and an error of check ends the search. A body that is no object is refused as any request is.
// Package web uses it to combine a body with what the path says, without decoding the body into a form that would
// have to be encoded again. The value points into body. Duplicate members are refused by the decoder, so check is
// called at most once.
func FindMember(body []byte, member string, check func(jsontext.Value) error) (end int64, isEmpty, isThere bool, err error) {
	isEmpty = true
	err = read(body, func(r *reader) error {
		if err := r.open(jsontext.KindBeginObject, "an object"); err != nil {
			return err
		}
		end = r.dec.InputOffset()
		for ; r.dec.PeekKind() != jsontext.KindEndObject; end, isEmpty = r.dec.InputOffset(), false {
			name, err := r.dec.ReadValue()
			if err != nil {
				return r.broken(err)
			}
			// Names are compared without their escapes, as the decoder of the verb compares them.
			isIt := unquote(name) == member
			value, err := r.dec.ReadValue()
			if err != nil {
				return r.broken(err)
			}
			if isIt {
				if err := check(value); err != nil {
					return err
				}
			}
			isThere = isThere || isIt
		}
		return r.token()
	})
	return end, isEmpty, isThere, err
}
