package oidc

import (
	"errors"
	"fmt"
)

// Refusal says what is wrong with a token or a sign-in. It is the only error whose text a caller may read: it consists of
// words of this package, and of names of claims in the file of rights. Everything else may name addresses of the issuer
// and files of this machine, and belongs into the log.
type Refusal string

// Error implements error.
func (r Refusal) Error() string { return string(r) }

func refused(format string, args ...any) error { return Refusal(fmt.Sprintf(format, args...)) }

// ErrOtherFlow is the refusal of [Issuer.Return] for a return that does not belong to the flow, whatever else it says.
const ErrOtherFlow = Refusal("the sign-in was begun in another window, or too long ago; sign in again")

// UnavailableError is the error of an issuer that does not answer as it should. The token may be good. Its text is for the
// log.
type UnavailableError struct{ cause error }

// Error implements error.
func (e *UnavailableError) Error() string {
	return "the issuer cannot be asked now: " + e.cause.Error()
}

// Unwrap returns the cause.
func (e *UnavailableError) Unwrap() error { return e.cause }

// DeniedError is the error of an issuer that has not signed a person in. Its text is for the log: the issuer, or who forged
// the return, wrote a part of it.
type DeniedError struct{ said string }

// Error implements error.
func (e *DeniedError) Error() string { return "the issuer says no: " + e.said }

// PublicText returns what a caller may read of an error of this package.
func PublicText(err error) string {
	if r, ok := errors.AsType[Refusal](err); ok {
		return string(r)
	}
	if _, ok := errors.AsType[*DeniedError](err); ok {
		return "the issuer has not signed you in; sign in again, or ask who runs this server: its log says why"
	}
	return "the issuer cannot be asked now; try again later"
}
