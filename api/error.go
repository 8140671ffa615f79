package api

import (
	"context"
	"errors"
	"net/http"

	"github.com/go-json-experiment/json"

	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/job"
)

// statusOf is the HTTP status of each code, which is also the NATS service error code. What cannot be
// read is 400; what can be read, but holds a value that cannot be, is 422.
var statusOf = map[job.Code]int{
	job.CodeInvalidJSON:     http.StatusBadRequest,
	job.CodeUnknownField:    http.StatusBadRequest,
	job.CodeInvalidName:     http.StatusUnprocessableEntity,
	job.CodeInvalidSchedule: http.StatusUnprocessableEntity,
	job.CodeInvalidTimezone: http.StatusUnprocessableEntity,
	job.CodeInvalidTarget:   http.StatusUnprocessableEntity,
	job.CodeInvalidField:    http.StatusUnprocessableEntity,
	job.CodeTooLarge:        http.StatusRequestEntityTooLarge,
	job.CodeForbidden:       http.StatusForbidden,
	job.CodeNotFound:        http.StatusNotFound,
	job.CodeVersionConflict: http.StatusConflict,
	job.CodeAlreadyExists:   http.StatusConflict,
	job.CodeStaleFence:      http.StatusConflict,
	job.CodeQuotaExceeded:   http.StatusTooManyRequests,
	job.CodeRateLimited:     http.StatusTooManyRequests,
	job.CodeNotLeader:       http.StatusServiceUnavailable,
	job.CodeUnavailable:     http.StatusServiceUnavailable,
	job.CodeInternal:        http.StatusInternalServerError,
}

// publicError returns what a caller is told of an error.
func publicError(err error) *client.Error {
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		err = job.Errorf(job.CodeUnavailable, "", "no answer in time; whether the request took effect is unknown, so read before asking again")
	}
	e := job.AsError(err)
	status, ok := statusOf[e.Code]
	if !ok {
		status = http.StatusInternalServerError
	}
	return &client.Error{Code: client.Code(e.Code), Message: e.Message, Field: e.Field, Status: status}
}

// errorBody returns the body of a reply that refuses.
func errorBody(e *client.Error) []byte {
	body, err := json.Marshal(client.ErrorReply{Error: e}, encoding)
	if err != nil {
		return []byte(`{"error":{"code":"internal","message":"internal error; the server's log has the details"}}`)
	}
	return body
}
