package api

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/carillon-io/carillon/apierr"
)

// reader reads one request, token by token, directly into the types of package job, so that no intermediate form is
// built. The bytes that it returns point into the request. It comes from a pool, because the decoder has buffers that
// are worth keeping; it belongs to one request at a time.
type reader struct {
	// dec reads from buf, whose bytes are those of the request and are never written.
	dec jsontext.Decoder
	// buf stands before the decoder because that reads from an io.Reader, and has a path without copies for this
	// type.
	buf bytes.Buffer
	// It is 0 except while one job of a bulk is read.
	root int // how many tokens of a pointer the paths in errors leave out
}

// readers keeps the decoders of requests that are over. The garbage collector may empty the pool at any time; a
// request then allocates a new one.
var readers = sync.Pool{New: func() any { return new(reader) }}

// read runs fn over a request, which must be exactly one JSON value. What fn keeps of the request points into body
// and stays valid after the reader is back in the pool.
func read(body []byte, fn func(*reader) error) error {
	r := readers.Get().(*reader)
	defer r.release()
	r.buf, r.root = *bytes.NewBuffer(body), 0
	r.dec.Reset(&r.buf)
	if err := fn(r); err != nil {
		return err
	}
	if _, err := r.dec.ReadToken(); err != io.EOF {
		return apierr.Errorf(apierr.InvalidJSON, "", "has something behind the JSON value, at byte %d; want one value alone", r.dec.InputOffset())
	}
	return nil
}

// release returns the reader to the pool, without its request, which the pool would otherwise keep in memory.
func (r *reader) release() {
	r.buf = bytes.Buffer{}
	r.dec.Reset(&r.buf)
	readers.Put(r)
}

// path returns the reader's position in the form of errors: retry.max_attempts.
func (r *reader) path() string { return r.pathOf(r.dec.StackPointer()) }

// pathOf returns a JSON pointer in the form of errors. Names in it are the caller's, so the path is clipped.
func (r *reader) pathOf(p jsontext.Pointer) string {
	tokens := slices.Collect(p.Tokens())
	return apierr.Clip(strings.Join(tokens[min(r.root, len(tokens)):], "."))
}

// broken returns the error for a request that is not JSON. A duplicate member is no fault of syntax, but is refused
// here too: libraries disagree on which of two counts.
func (r *reader) broken(err error) error {
	syntax, ok := errors.AsType[*jsontext.SyntacticError](err)
	switch {
	case errors.Is(err, jsontext.ErrDuplicateName) && ok:
		return apierr.Errorf(apierr.InvalidJSON, r.pathOf(syntax.JSONPointer), "is there twice; want each member once")
	case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
		return apierr.Errorf(apierr.InvalidJSON, "", "is no complete JSON: it ends at byte %d, in the middle of a value", r.dec.InputOffset()+int64(len(r.dec.UnreadBuffer())))
	case ok:
		return apierr.Errorf(apierr.InvalidJSON, r.pathOf(syntax.JSONPointer), "is no JSON (RFC 8259, UTF-8) at byte %d: %s", syntax.ByteOffset, syntax.Err)
	}
	return apierr.Errorf(apierr.InvalidJSON, r.path(), "is no JSON")
}

// value reads a value of the wanted kind. Any other kind is an error that says what would be right. An invalid
// token passes, so that ReadValue reports the syntax and its place, which says more than a wrong kind.
func (r *reader) value(kind jsontext.Kind, want string) (jsontext.Value, error) {
	got := r.dec.PeekKind()
	if got != kind && got != jsontext.KindInvalid {
		return nil, r.mistyped(got, want)
	}
	v, err := r.dec.ReadValue()
	if err != nil {
		return nil, r.broken(err)
	}
	return v, nil
}

// mistyped consumes a value of the wrong kind, so that the path names it. It returns the error of the syntax
// instead if the value cannot even be skipped.
func (r *reader) mistyped(got jsontext.Kind, want string) error {
	if err := r.dec.SkipValue(); err != nil {
		return r.broken(err)
	}
	return apierr.Errorf(apierr.InvalidField, r.path(), "must be %s, not %s", want, kindName(got))
}

// kindName returns the name of a kind of value, for errors.
func kindName(k jsontext.Kind) string {
	switch k {
	case jsontext.KindNull:
		return "null"
	case jsontext.KindTrue, jsontext.KindFalse:
		return "a boolean"
	case jsontext.KindString:
		return "a string"
	case jsontext.KindNumber:
		return "a number"
	case jsontext.KindBeginObject:
		return "an object"
	default:
		return "a list"
	}
}

// open enters an object or a list. As in value, an invalid token passes and is reported as broken syntax.
func (r *reader) open(kind jsontext.Kind, want string) error {
	got := r.dec.PeekKind()
	if got != kind && got != jsontext.KindInvalid {
		return r.mistyped(got, want)
	}
	return r.token()
}

// token reads a token of a known kind.
func (r *reader) token() error {
	if _, err := r.dec.ReadToken(); err != nil {
		return r.broken(err)
	}
	return nil
}

// skipNull skips a null, which counts as an absent member, and reports whether there was one.
func (r *reader) skipNull() (skipped bool, err error) {
	if r.dec.PeekKind() != jsontext.KindNull {
		return false, nil
	}
	return true, r.token()
}

// text reads a string.
func (r *reader) text() (string, error) {
	v, err := r.value(jsontext.KindString, "a string")
	if err != nil {
		return "", err
	}
	return unquote(v), nil
}

// unquote returns the text of a string that the decoder has validated. The result is a copy: a text that is kept does
// not keep the whole request in memory.
func unquote(v jsontext.Value) string {
	if bytes.IndexByte(v, '\\') < 0 {
		return string(v[1 : len(v)-1])
	}
	b, _ := jsontext.AppendUnquote(nil, v)
	return string(b)
}
