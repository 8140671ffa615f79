package api

import (
	"context"
	"errors"
	"maps"
	"net/http"

	"github.com/go-json-experiment/json"

	"github.com/carillon-io/carillon/apierr"
	"github.com/carillon-io/carillon/client"
)

// statusOf is the HTTP status of each code, which is also the error code of the NATS service. A request that cannot
// be parsed is 400; one that can be parsed but has an invalid value is 422. It is the only table of statuses; a code
// that is missing in it would be shown as an internal error. Over HTTP, 503 and 429 mean that the same request may be
// sent again.
var statusOf = map[apierr.Code]int{
	apierr.InvalidJSON:     http.StatusBadRequest,
	apierr.UnknownField:    http.StatusBadRequest,
	apierr.InvalidName:     http.StatusUnprocessableEntity,
	apierr.InvalidSchedule: http.StatusUnprocessableEntity,
	apierr.InvalidTimezone: http.StatusUnprocessableEntity,
	apierr.InvalidTarget:   http.StatusUnprocessableEntity,
	apierr.InvalidField:    http.StatusUnprocessableEntity,
	apierr.TooLarge:        http.StatusRequestEntityTooLarge,
	apierr.Unauthenticated: http.StatusUnauthorized,
	apierr.Forbidden:       http.StatusForbidden,
	apierr.NotFound:        http.StatusNotFound,
	apierr.VersionConflict: http.StatusConflict,
	apierr.AlreadyExists:   http.StatusConflict,
	apierr.StaleFence:      http.StatusConflict,
	apierr.RunOver:         http.StatusConflict,
	apierr.QuotaExceeded:   http.StatusTooManyRequests,
	apierr.RateLimited:     http.StatusTooManyRequests,
	apierr.NotLeader:       http.StatusServiceUnavailable,
	apierr.Unavailable:     http.StatusServiceUnavailable,
	apierr.Internal:        http.StatusInternalServerError,
}

// Codes that exist only over HTTP.
const (
	// They are refusals of the gateway, before a verb is known, so they are no codes of package apierr, which a
	// verb could return over NATS too.
	CodeMethodNotAllowed     client.Code = "method_not_allowed"
	CodeUnsupportedMediaType client.Code = "unsupported_media_type"
	CodeUnknownHost          client.Code = "unknown_host"
	CodeCrossOrigin          client.Code = "cross_origin"
)

// statusOfHTTP is the status of each of those codes. It is apart from statusOf because the counters of verbs have
// an entry for each code of that table.
var statusOfHTTP = map[client.Code]int{
	CodeMethodNotAllowed: http.StatusMethodNotAllowed, CodeUnsupportedMediaType: http.StatusUnsupportedMediaType,
	CodeUnknownHost: http.StatusMisdirectedRequest, CodeCrossOrigin: http.StatusForbidden,
}

// Statuses returns the HTTP status of each code of a verb, which is also the error code of the NATS service, and of each
// code that exists only over HTTP. The caller may change the maps.
func Statuses() (verbs map[apierr.Code]int, onlyHTTP map[client.Code]int) {
	return maps.Clone(statusOf), maps.Clone(statusOfHTTP)
}

// PublicError returns the error that a caller receives. A [client.Error] stays as it is. Any error that is not one of
// these three kinds becomes internal here, so its text, which may name files or addresses, cannot reach a caller by
// being forgotten. An expired context is not a refusal: the proposal may be in a commit already.
func PublicError(err error) *client.Error {
	if e, ok := errors.AsType[*client.Error](err); ok {
		return e
	}
	if isOver(err) {
		err = apierr.Errorf(apierr.Unavailable, "", "no answer in time; whether the request took effect is unknown, so read before asking again")
	}
	e := apierr.From(err)
	status, ok := statusOf[e.Code]
	if !ok {
		status = http.StatusInternalServerError
	}
	return &client.Error{Code: client.Code(e.Code), Message: e.Message, Field: e.Field, Status: status, RetryAfter: e.RetryAfter}
}

// isOver reports whether an error is that of a context that has ended.
func isOver(err error) bool {
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled)
}

// ErrorBody returns the body of a refusal. It never fails, because a caller without a body could not tell a refusal
// from a broken connection.
func ErrorBody(e *client.Error) []byte {
	body, err := json.Marshal(client.ErrorReply{Error: e}, encoding)
	if err != nil {
		return []byte(`{"error":{"code":"internal","message":"internal error; the server's log has the details"}}`)
	}
	return body
}
