package api

import (
	"encoding/base64"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/carillon-io/carillon/apierr"
	"github.com/carillon-io/carillon/job"
)

// This file contains the setters of values that can be large: maps, lists and payloads.

// pairs reads an object of strings. Its bound keeps a request from filling memory with pairs that would be refused
// later. The result is sorted, which lists of pairs must be; the decoder has refused duplicate names by then.
func pairs[T any](most int, at func(*T) *[]job.Pair) setter[T] {
	return func(r *reader, v *T) error {
		if err := r.open(jsontext.KindBeginObject, "an object of strings"); err != nil {
			return err
		}
		var list []job.Pair
		for r.dec.PeekKind() != jsontext.KindEndObject {
			p, err := r.pair()
			if err != nil {
				return err
			}
			if list = inOrder(list, p); len(list) > most {
				return apierr.Errorf(apierr.TooLarge, r.parent(), "has more than %d entries, which is the limit", most)
			}
		}
		*at(v) = list
		return r.token()
	}
}

// inOrder inserts a pair into a list that is sorted by key. The lists are short, and most come sorted.
func inOrder(list []job.Pair, p job.Pair) []job.Pair {
	list = append(list, p)
	for i := len(list) - 1; i > 0 && list[i].Key < list[i-1].Key; i-- {
		list[i], list[i-1] = list[i-1], list[i]
	}
	return list
}

// pair reads one member whose name and value are texts. The lengths are bounded by that of the request; validation
// has the finer bounds.
func (r *reader) pair() (p job.Pair, err error) {
	name, err := r.dec.ReadValue()
	if err != nil {
		return p, r.broken(err)
	}
	p.Key = unquote(name)
	p.Value, err = r.text()
	return p, err
}

// lines reads a list of one-line expressions. An empty list means the same as no list. The bound is checked before
// the next line is read, so that a long list does not fill memory first.
func lines[T any](most int, at func(*T) *[]string) setter[T] {
	return func(r *reader, v *T) error {
		if err := r.open(jsontext.KindBeginArray, "a list of strings"); err != nil {
			return err
		}
		var list []string
		for r.dec.PeekKind() != jsontext.KindEndArray {
			if len(list) == most {
				return apierr.Errorf(apierr.TooLarge, r.parent(), "has more than %d entries, which is the limit", most)
			}
			line, err := r.text()
			if err != nil {
				return err
			}
			list = append(list, line)
		}
		*at(v) = list
		return r.token()
	}
}

// parent returns the path of the object or list that contains the reader's last value.
func (r *reader) parent() string { return r.pathOf(r.dec.StackPointer().Parent()) }

// depthMax is the largest nesting depth of a payload. Many targets parse the payload with libraries that recurse; the
// bound keeps a job from exhausting their stacks.
const depthMax = 100

// jsonValue reads any JSON value and keeps its text, which stays in the memory of the request. It is passed on byte
// for byte: decoding and encoding it again could change numbers and the order of members.
func jsonValue[T any](at func(*T) *[]byte) setter[T] {
	return func(r *reader, v *T) error {
		raw, err := r.dec.ReadValue()
		if err != nil {
			return r.broken(err)
		}
		if depth(raw) > depthMax {
			return apierr.Errorf(apierr.InvalidJSON, r.path(), "is nested more than %d deep; want it flatter, or as payload_base64", depthMax)
		}
		*at(v) = raw
		return nil
	}
}

// depth returns the nesting depth of a JSON value: 0 for a number, 1 for a list of numbers. It expects a value that
// the decoder has validated, so it need not pair brackets, and skips texts, whose brackets do not count. It does
// not recurse, because the input is the caller's.
func depth(v []byte) int {
	deepest, now := 0, 0
	for i := 0; i < len(v); i++ {
		switch v[i] {
		case '{', '[':
			now++
			deepest = max(deepest, now)
		case '}', ']':
			now--
		case '"':
			for i++; i < len(v) && v[i] != '"'; i++ {
				if v[i] == '\\' {
					i++
				}
			}
		}
	}
	return deepest
}

// base64Value reads bytes from a base64 string. Decoding is strict, so that a text that was cut or changed is refused
// and does not become other bytes.
func base64Value[T any](at func(*T) *[]byte) setter[T] {
	return func(r *reader, v *T) error {
		s, err := r.text()
		if err != nil {
			return err
		}
		b, err := base64.StdEncoding.Strict().DecodeString(s)
		if err != nil {
			return apierr.Errorf(apierr.InvalidField, r.path(), "is no base 64; want the standard alphabet with padding, such as aGVsbG8=")
		}
		*at(v) = b
		return nil
	}
}
