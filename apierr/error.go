package apierr

import (
	"errors"
	"fmt"
	"time"
)

// Code is the machine-readable class of an [Error], as callers of the API see it. Codes are a contract: programs
// compare them, and so none is renamed or used for something else.
type Code string

// The codes of the outside contract.
const (
	InvalidJSON     Code = "invalid_json"
	UnknownField    Code = "unknown_field"
	InvalidName     Code = "invalid_name"
	InvalidSchedule Code = "invalid_schedule"
	InvalidTimezone Code = "invalid_timezone"
	InvalidTarget   Code = "invalid_target"
	InvalidField    Code = "invalid_field"
	TooLarge        Code = "too_large"
	NotFound        Code = "not_found"
	VersionConflict Code = "version_conflict"
	AlreadyExists   Code = "already_exists"
	StaleFence      Code = "stale_fence"
	RunOver         Code = "run_over"
	QuotaExceeded   Code = "quota_exceeded"
	RateLimited     Code = "rate_limited"
	NotLeader       Code = "not_leader"
	Unavailable     Code = "unavailable"
	Unauthenticated Code = "unauthenticated"
	Forbidden       Code = "forbidden"
	Internal        Code = "internal"
)

// Error is a refusal that a caller can act upon: what is wrong, where, and what would be right. Every other error is
// an internal one and its text never reaches a caller. It is a value without a cause to unwrap: what a caller may see
// is in it, and nothing else. It must not be changed once it is returned.
type Error struct {
	Code    Code
	Field   string // path of the offending field in the request, "" if none
	Message string
	// RetryAfter is after how long the same request may succeed; 0: unknown, or it will not.
	RetryAfter time.Duration
}

// Error returns the human text, led by the field where there is one.
func (e *Error) Error() string {
	if e.Field == "" {
		return e.Message
	}
	return e.Field + ": " + e.Message
}

// Errorf builds an [Error]. Field may be empty.
func Errorf(code Code, field, format string, args ...any) *Error {
	return &Error{Code: code, Field: field, Message: fmt.Sprintf(format, args...)}
}

// From returns err as an [Error]. An error of any other type becomes [CodeInternal] with a text that tells nothing of
// the inside; the caller is expected to log the original. It finds an [Error] that is wrapped, too. err must not be
// nil.
func From(err error) *Error {
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	return &Error{Code: Internal, Message: "internal error; the server's log has the details"}
}
