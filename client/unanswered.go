package client

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/nats-io/nats.go"
)

// unanswered returns the error for a request without a reply. err is the error of the NATS client, size
// the number of bytes of the request, and changing whether it may change something.
func (c *Client) unanswered(subject string, size int, changing bool, err error) error {
	if e := denied(c.nc, subject); e != nil {
		return e
	}
	e := &Error{Code: CodeUnavailable, Status: http.StatusServiceUnavailable, Cause: err}
	switch {
	case errors.Is(err, nats.ErrNoResponders):
		e.Message = fmt.Sprintf("no server answers on %s: there is no leader at the moment, or the prefix or the tenant is wrong", subject)
	case errors.Is(err, nats.ErrReconnectBufExceeded):
		e.Message = "the connection to NATS is broken at the moment; the request was not sent"
	case errors.Is(err, nats.ErrMaxPayload):
		e.Code, e.Status = CodeTooLarge, http.StatusRequestEntityTooLarge
		e.Message = fmt.Sprintf("the request has %d bytes, more than the NATS server accepts (max_payload)", size)
	default:
		e.Message = noAnswer(err)
		if prefix := c.nc.Opts.InboxPrefix; prefix != "" && !strings.HasPrefix(prefix, "_INBOX") && !errors.Is(err, context.Canceled) {
			e.Message = fmt.Sprintf("no answer; the inboxes of this connection begin with %q, and a server drops requests from such inboxes unless it was started with that --inbox-prefix", prefix)
		}
		e.Message += doubtOf(changing)
	}
	return e
}

// noAnswer begins the message of an error of a request that has waited for its answer until the cause ended that.
func noAnswer(cause error) string {
	if errors.Is(cause, context.Canceled) {
		return "cancelled before an answer came"
	}
	return "no answer"
}

// doubtOf ends the message of an error after which it is unknown whether the request took effect. One that changes nothing has
// no effect.
func doubtOf(changing bool) string {
	if !changing {
		return ""
	}
	return "; whether the request took effect is unknown"
}
