package api

import (
	"math"
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/carillon-io/carillon/apierr"
	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/instant"
)

// This file contains the setters for the types of values in requests. Each takes a function that returns the place of
// the value in T.

// text reads a string. Its length is bounded by the request; validation has the bound of the member.
func text[T any](at func(*T) *string) setter[T] {
	return func(r *reader, v *T) (err error) {
		*at(v), err = r.text()
		return err
	}
}

// filled reads a string that must not be empty.
func filled[T any](at func(*T) *string) setter[T] {
	return func(r *reader, v *T) (err error) {
		if *at(v), err = r.text(); err == nil && *at(v) == "" {
			return apierr.Errorf(apierr.InvalidField, r.path(), "is empty; want a value, or leave it out")
		}
		return err
	}
}

// word reads a string that must be one of a set, as parse defines it. The error of parse is returned as it is, so
// parse itself names the member and what would be right.
func word[T, W any](parse func(string) (W, error), at func(*T) *W) setter[T] {
	return func(r *reader, v *T) error {
		s, err := r.text()
		if err == nil {
			*at(v), err = parse(s)
		}
		return err
	}
}

// boolean reads a boolean. An invalid token passes the check of its kind, so that token returns the error of the
// syntax and its place.
func boolean[T any](at func(*T) *bool) setter[T] {
	return func(r *reader, v *T) error {
		kind := r.dec.PeekKind()
		if kind != jsontext.KindTrue && kind != jsontext.KindFalse && kind != jsontext.KindInvalid {
			return r.mistyped(kind, "true or false")
		}
		*at(v) = kind == jsontext.KindTrue
		return r.token()
	}
}

// whole reads a non-negative integer of at most 32 bits. It parses the text and not a float, so that 1.0, 1e3 and
// numbers beyond 2^53 are refused and not rounded.
func whole[T any](at func(*T) *uint32) setter[T] {
	const want = "a whole number from 0 to 4294967295"
	return func(r *reader, v *T) error {
		raw, err := r.value(jsontext.KindNumber, want)
		if err != nil {
			return err
		}
		n, err := strconv.ParseUint(string(raw), 10, 32)
		if err != nil {
			return apierr.Errorf(apierr.InvalidField, r.path(), "must be %s, not %s", want, apierr.Clip(string(raw)))
		}
		*at(v) = uint32(n)
		return nil
	}
}

// presentVersion reads the version of a job that must exist, which is not 0. Only a put may have 0, which there
// demands that the job does not exist yet.
func presentVersion[T any](at func(*T) **uint32) setter[T] {
	return func(r *reader, v *T) error {
		*at(v) = new(uint32)
		if err := whole(func(v *T) *uint32 { return *at(v) })(r, v); err != nil {
			return err
		}
		if **at(v) == 0 {
			return apierr.Errorf(apierr.InvalidField, r.path(), "is 0, which stands for no such job, and there is nothing to be done to none; want the job's version, or leave it out")
		}
		return nil
	}
}

// fence reads the fence of an attempt: an integer of at most 64 bits, and not 0. Callers whose numbers are floats
// must keep it as a text or as an integer: it may exceed 2^53.
func fence[T any](at func(*T) *uint64) setter[T] {
	const want = "the fence of the attempt, a whole number from 1 on, as the header Carillon-Fence has it"
	return func(r *reader, v *T) error {
		raw, err := r.value(jsontext.KindNumber, want)
		if err != nil {
			return err
		}
		n, err := strconv.ParseUint(string(raw), 10, 64)
		if err != nil || n == 0 {
			return apierr.Errorf(apierr.InvalidField, r.path(), "must be %s, not %s", want, apierr.Clip(string(raw)))
		}
		*at(v) = n
		return nil
	}
}

// between reads an integer from low to high. A value beyond the bounds is refused and not cut, so that a caller does
// not take a shortened list for a whole one.
func between[T any](low, high int, at func(*T) *int) setter[T] {
	return func(r *reader, v *T) error {
		raw, err := r.value(jsontext.KindNumber, "a whole number")
		if err != nil {
			return err
		}
		n, err := strconv.Atoi(string(raw))
		if err != nil || n < low || n > high {
			return apierr.Errorf(apierr.InvalidField, r.path(), "must be a whole number from %d to %d, not %s", low, high, apierr.Clip(string(raw)))
		}
		*at(v) = n
		return nil
	}
}

// real reads any number. One beyond the range of float64, such as 1e999, is refused here, before validation
// compares it with the bound of the member.
func real[T any](at func(*T) *float64) setter[T] {
	return func(r *reader, v *T) error {
		raw, err := r.value(jsontext.KindNumber, "a number")
		if err != nil {
			return err
		}
		n, err := strconv.ParseFloat(string(raw), 64)
		if err != nil || math.IsInf(n, 0) {
			return apierr.Errorf(apierr.InvalidField, r.path(), "is too large a number: %s", apierr.Clip(string(raw)))
		}
		*at(v) = n
		return nil
	}
}

// length reads a duration of whole milliseconds, such as "1h30m". Finer durations are refused and not rounded,
// because the caller would wait for something else than it wrote.
func length[T any](at func(*T) *time.Duration) setter[T] {
	const want = `a duration such as "250ms", "90s", "1h30m" or "7d"`
	return func(r *reader, v *T) error {
		raw, err := r.value(jsontext.KindString, want)
		if err != nil {
			return err
		}
		d, err := client.ParseDuration(unquote(raw))
		switch {
		case err != nil:
			return apierr.Errorf(apierr.InvalidField, r.path(), "is %s; want %s", apierr.Clip(string(raw)), want)
		case time.Duration(d)%time.Millisecond != 0:
			return apierr.Errorf(apierr.InvalidField, r.path(), "is %s; want whole milliseconds", apierr.Clip(string(raw)))
		}
		*at(v) = time.Duration(d)
		return nil
	}
}

// timeField reads an RFC 3339 time with any offset, and rounds it up to the millisecond. Up and not down, so that a
// bound such as starts_at never lets a tick through that lies before it.
func timeField[T any](at func(*T) *instant.Millis) setter[T] {
	const want = `a time of RFC 3339 such as "2026-12-01T08:00:00Z"`
	return func(r *reader, v *T) error {
		raw, err := r.value(jsontext.KindString, want)
		if err != nil {
			return err
		}
		var t time.Time
		if err := t.UnmarshalText([]byte(unquote(raw))); err != nil {
			return apierr.Errorf(apierr.InvalidField, r.path(), "is %s; want %s", apierr.Clip(string(raw)), want)
		}
		ms := instant.Up(t)
		if ms <= 0 || ms >= instant.Max {
			return apierr.Errorf(apierr.InvalidField, r.path(), "is %s; want a time after 1970-01-01T00:00:00Z and before the end of 9999", apierr.Clip(string(raw)))
		}
		*at(v) = ms
		return nil
	}
}

// nested reads an object. An absent object leaves the defaults of U; one that is there changes only the members
// that it has.
func nested[T, U any](members object[U], at func(*T) *U) setter[T] {
	return func(r *reader, v *T) error { return members.read(r, at(v)) }
}
