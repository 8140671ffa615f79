package api

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/carillon-io/carillon/apierr"
)

// setter reads one value, which is not null, into a field of T.
type setter[T any] func(*reader, *T) error

// object lists the members that a JSON object may have. Any other member is an error, so that a typo never silently
// changes a schedule. A member that is null counts as absent.
type object[T any] map[string]setter[T]

// read fills v from the next object.
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

// member reads the name of a member, and returns its setter.
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

// notPutBack are members of replies that requests must not contain, each with what to do instead.
var notPutBack = map[string]string{
	"payload_omitted": "says that a list left the payload of this job out, for it did not fit the message; a put would take the payload away: get the job by its name (jobs.get), which has it, and put that",
}

func (o object[T]) unknown(r *reader, name string) error {
	if hint, ok := notPutBack[name]; ok {
		return apierr.Errorf(apierr.UnknownField, r.path(), "%s", hint)
	}
	return apierr.Errorf(apierr.UnknownField, r.path(), "is no member here; %s", advice(name, slices.Sorted(maps.Keys(o)), "this request has no members"))
}

// advice says what would be right instead of an unknown name.
func advice(name string, known []string, none string) string {
	if near := nearest(name, known); near != "" {
		return fmt.Sprintf("did you mean %q?", near)
	}
	if len(known) > 0 {
		return "want " + strings.Join(known, ", ")
	}
	return none
}

// nearest returns the known name that a misspelled one most likely means; "" if none is close.
func nearest(name string, known []string) string {
	best, least := "", 3
	for _, k := range known {
		if d := distance(strings.ToLower(clip(name)), k); d < least && d < len(k) {
			best, least = k, d
		}
	}
	return best
}

// distance returns the number of single-byte edits between two texts (Levenshtein).
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
