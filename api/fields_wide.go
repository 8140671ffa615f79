package api

import (
	"encoding/base64"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/carillon-io/carillon/job"
)

// This file makes the setters of values that can be large: maps and payloads.

// pairs takes an object of strings. Its bound keeps a request from filling memory with pairs that are
// refused later.
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
			if list = append(list, p); len(list) > most {
				return job.Errorf(job.CodeTooLarge, r.parent(), "has more than %d entries, which is the limit", most)
			}
		}
		slices.SortFunc(list, func(a, b job.Pair) int { return strings.Compare(a.Key, b.Key) })
		*at(v) = list
		return r.token()
	}
}

func (r *reader) pair() (p job.Pair, err error) {
	name, err := r.dec.ReadValue()
	if err != nil {
		return p, r.broken(err)
	}
	p.Key = unquote(name)
	p.Value, err = r.text()
	return p, err
}

// lines takes a list of expressions, each of them one line. An empty list is as good as none.
func lines[T any](most int, at func(*T) *[]string) setter[T] {
	return func(r *reader, v *T) error {
		if err := r.open(jsontext.KindBeginArray, "a list of strings"); err != nil {
			return err
		}
		var list []string
		for r.dec.PeekKind() != jsontext.KindEndArray {
			if len(list) == most {
				return job.Errorf(job.CodeTooLarge, r.parent(), "has more than %d entries, which is the limit", most)
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

// parent returns the path of what the reader's last value is in.
func (r *reader) parent() string { return r.pathOf(r.dec.StackPointer().Parent()) }

// depthMax is how deep the value of a payload may be nested.
const depthMax = 100

// jsonValue takes any JSON value and keeps its text as it is, in the memory of the request.
func jsonValue[T any](at func(*T) *[]byte) setter[T] {
	return func(r *reader, v *T) error {
		raw, err := r.dec.ReadValue()
		if err != nil {
			return r.broken(err)
		}
		if depth(raw) > depthMax {
			return job.Errorf(job.CodeInvalidJSON, r.path(), "is nested more than %d deep; want it flatter, or as payload_base64", depthMax)
		}
		*at(v) = raw
		return nil
	}
}

// depth returns how deep a JSON value is nested; a number is 0, a list of numbers 1.
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

// base64Value takes bytes as a string of base 64.
func base64Value[T any](at func(*T) *[]byte) setter[T] {
	return func(r *reader, v *T) error {
		s, err := r.text()
		if err != nil {
			return err
		}
		b, err := base64.StdEncoding.Strict().DecodeString(s)
		if err != nil {
			return job.Errorf(job.CodeInvalidField, r.path(), "is no base 64; want the standard alphabet with padding, such as aGVsbG8=")
		}
		*at(v) = b
		return nil
	}
}
