package client

import (
	"cmp"
	"errors"
	"time"
)

// Code is the machine-readable class of an [Error]. It is an error itself, so that errors.Is(err,
// CodeNotFound) finds it in a wrapped error.
type Code string

// The codes.
const (
	// The texts are part of the API and never change. CodeUnavailable is also that of a request without an answer.
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
	CodeRunOver         Code = "run_over"
	CodeQuotaExceeded   Code = "quota_exceeded"
	CodeRateLimited     Code = "rate_limited"
	CodeNotLeader       Code = "not_leader"
	CodeUnavailable     Code = "unavailable"
	CodeUnauthenticated Code = "unauthenticated" // see [IsUnauthenticated]
	CodeForbidden       Code = "forbidden"       // see [IsForbidden]
	CodeInternal        Code = "internal"
)

// Error returns the code as text.
func (c Code) Error() string { return string(c) }

// Error is the server's refusal of a request, or, with [CodeUnavailable], the lack of an answer.
type Error struct {
	// Code is one of the constants, or one that a later server has added.
	Code    Code   `json:"code"`
	Message string `json:"message"`         // what is wrong, and what would be right
	Field   string `json:"field,omitempty"` // path of the offending field in the request, if there is one
	Status  int    `json:"-"`               // HTTP status of the code, from the reply's headers
	// RetryAfter is after how long the server expects the same request to succeed; 0: it does not say.
	RetryAfter time.Duration `json:"-"`

	// Cause is the reason why no answer came, such as [context.DeadlineExceeded] or an error of the
	// connection; nil if the server answered. With a Cause, a request that changes data may have taken
	// effect: read the data before sending it again, or use a request that may be repeated (a put of the
	// same definition, a trigger with an idempotency key). It is set also if the server has refused a repetition of the request:
	// what became of the first try is unknown, and the message says so before the refusal.
	Cause error `json:"-"`
}

// ErrorReply is the body of a reply that refuses a request.
type ErrorReply struct {
	Error *Error `json:"error"`
}

// Error returns the message, preceded by the name of the field if the error has one.
func (e *Error) Error() string {
	text := string(e.Code) + ": "
	if e.Field != "" {
		text += e.Field + ": "
	}
	text += cmp.Or(e.Message, "the reply has no text that says why")
	if e.Cause != nil {
		text += ": " + e.Cause.Error()
	}
	return text
}

// Unwrap returns the code and, if there is one, the cause.
func (e *Error) Unwrap() []error {
	if e.Cause == nil {
		return []error{e.Code}
	}
	return []error{e.Code, e.Cause}
}

// IsNotFound reports whether err says that the job, run or calendar does not exist.
func IsNotFound(err error) bool { return errors.Is(err, CodeNotFound) }

// IsConflict reports whether err says that the job does not have the version that the caller required.
func IsConflict(err error) bool {
	return errors.Is(err, CodeVersionConflict) || errors.Is(err, CodeAlreadyExists)
}

// IsUnauthenticated reports whether err says that the server does not know the caller: the token or the certificate is
// missing, unknown or no longer valid.
func IsUnauthenticated(err error) bool { return errors.Is(err, CodeUnauthenticated) }

// IsForbidden reports whether err says that the server knows the caller, and that it may not do this in this tenant.
func IsForbidden(err error) bool { return errors.Is(err, CodeForbidden) }

// IsUnavailable reports whether err says that no server answered, or that the server cannot carry out
// the request at the moment. A later attempt may succeed.
func IsUnavailable(err error) bool {
	return errors.Is(err, CodeUnavailable) || errors.Is(err, CodeNotLeader) || errors.Is(err, CodeRateLimited)
}
