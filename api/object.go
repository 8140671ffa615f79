package api

import (
	"maps"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/carillon-io/carillon/apierr"
)

// setter reads one value, which is not null, into a field of T. It consumes exactly that value, also if it refuses
// it, unless the request is not JSON; errors name the place of the reader.
type setter[T any] func(*reader, *T) error

// object lists the members that a JSON object may have. Any other member is an error, so that a typo never silently
// changes a schedule. A member that is null counts as absent. A table of setters is read faster than reflection over
// tags, and lets a member write into any field of package job.
type object[T any] map[string]setter[T]

// read fills v from the next object. It stops at the first error; v may be filled in part then and must not be used.
// Duplicate members are refused by the decoder.
func (o object[T]) read(r *reader, v *T) error {
	if err := r.open(jsontext.KindBeginObject, "an object"); err != nil {
		return err
	}
	for r.dec.PeekKind() != jsontext.KindEndObject {
		set, err := o.member(r)
		if err != nil {
			return err
		}
		null, err := r.skipNull()
		if err == nil && !null {
			err = set(r, v)
		}
		if err != nil {
			return err
		}
	}
	return r.token()
}

// member reads the name of a member, and returns its setter. The first lookup is for names without escapes, which are
// nearly all, and allocates nothing.
func (o object[T]) member(r *reader) (setter[T], error) {
	name, err := r.dec.ReadValue()
	if err != nil {
		return nil, r.broken(err)
	}
	if set, ok := o[string(name[1:len(name)-1])]; ok {
		return set, nil
	}
	plain := unquote(name)
	if set, ok := o[plain]; ok {
		return set, nil
	}
	return nil, o.unknown(r, plain)
}

// notPutBack are members of replies that requests must not contain, each with what to do instead. They are apart
// from replyOnly because ignoring them would do harm: a put of a job without its payload would delete the payload.
var notPutBack = map[string]string{
	"payload_omitted": "says that a list left the payload of this job out, for it did not fit the message; a put would take the payload away: get the job by its name (jobs.get), which has it, and put that",
}

// unknown returns the error for a member that the object does not have, with the name that was most likely meant. A
// list of the members sorts them, so the advice for one typo is always the same.
func (o object[T]) unknown(r *reader, name string) error {
	if hint, ok := notPutBack[name]; ok {
		return apierr.Errorf(apierr.UnknownField, r.path(), "%s", hint)
	}
	return apierr.Errorf(apierr.UnknownField, r.path(), "is no member here; %s", apierr.Advice(name, slices.Sorted(maps.Keys(o)), "this request has no members"))
}
