package client

import "errors"

// Code is the machine-readable class of an [Error]. It is an error itself, so that
// errors.Is(err, CodeNotFound) finds it in any chain.
type Code string

// The codes.
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

// Error returns the code as text.
func (c Code) Error() string { return string(c) }

// Error is a refusal by the server, or, with [CodeUnavailable], the lack of an answer.
type Error struct {
	Code    Code   `json:"code"`
	Message string `json:"message"`         // what is wrong, and what would be right
	Field   string `json:"field,omitempty"` // path of the offending field in the request, if there is one
	Status  int    `json:"-"`               // HTTP status of the code, from the reply's headers

	// Cause is why no answer came, such as [context.DeadlineExceeded] or an error of the connection.
	// A request that changes something may then have taken effect: read before asking again, or ask
	// in a way that may be repeated (a put of the same definition, a trigger with an idempotency key).
	Cause error `json:"-"`
}

// ErrorReply is the body of a reply that refuses.
type ErrorReply struct {
	Error *Error `json:"error"`
}

// Error returns the human text, led by the field where there is one.
func (e *Error) Error() string {
	text := string(e.Code) + ": "
	if e.Field != "" {
		text += e.Field + ": "
	}
	text += e.Message
	if e.Cause != nil {
		text += ": " + e.Cause.Error()
	}
	return text
}

// Unwrap returns the code and the cause.
func (e *Error) Unwrap() []error {
	if e.Cause == nil {
		return []error{e.Code}
	}
	return []error{e.Code, e.Cause}
}

// IsNotFound tells whether err says that there is no such job or run.
func IsNotFound(err error) bool { return errors.Is(err, CodeNotFound) }

// IsConflict tells whether err says that the job is not at the version that the caller demanded.
func IsConflict(err error) bool {
	return errors.Is(err, CodeVersionConflict) || errors.Is(err, CodeAlreadyExists)
}

// IsUnavailable tells whether err says that nobody answered, or that the server is not able to just
// now. It may be different in a while.
func IsUnavailable(err error) bool {
	return errors.Is(err, CodeUnavailable) || errors.Is(err, CodeNotLeader) || errors.Is(err, CodeRateLimited)
}
