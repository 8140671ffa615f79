package job

import (
	"errors"
	"fmt"
)

// Code is the machine-readable class of an [Error], as callers of the API see it.
type Code string

// The codes of the outside contract.
const (
	CodeInvalidJSON     Code = "invalid_json"
	CodeUnknownField    Code = "unknown_field"
	CodeInvalidName     Code = "invalid_name"
	CodeInvalidSchedule Code = "invalid_schedule"
	CodeInvalidTimezone Code = "invalid_timezone"
	CodeInvalidTarget   Code = "invalid_target"
	CodeInvalidField    Code = "invalid_field"
	CodeTooLarge        Code = "too_large"
	CodeNotFound        Code = "not_found"
	CodeVersionConflict Code = "version_conflict"
	CodeAlreadyExists   Code = "already_exists"
	CodeStaleFence      Code = "stale_fence"
	CodeQuotaExceeded   Code = "quota_exceeded"
	CodeRateLimited     Code = "rate_limited"
	CodeNotLeader       Code = "not_leader"
	CodeUnavailable     Code = "unavailable"
	CodeForbidden       Code = "forbidden"
	CodeInternal        Code = "internal"
)

// Error is a refusal that a caller can act upon: what is wrong, where, and what would be right.
// Every other error is an internal one and its text never reaches a caller.
type Error struct {
	Code    Code
	Field   string // path of the offending field in the request, "" if none
	Message string
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

// AsError returns err as an [Error]. An error of any other type becomes [CodeInternal] with a text
// that tells nothing of the inside; the caller is expected to log the original.
func AsError(err error) *Error {
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	return &Error{Code: CodeInternal, Message: "internal error; the server's log has the details"}
}
