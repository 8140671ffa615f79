package history

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
)

// replyWait is how long a client waits for an answer. A server that is killed never answers the requests that it has
// received. It is short compared with a restart, so that a client soon continues with requests whose outcome can be
// known.
const replyWait = 1500 * time.Millisecond

// Caller sends requests to the server. It is safe for concurrent use. It sends each request once: a request that is
// repeated by itself would have two times at which it may have taken effect.
type Caller struct{ conn *nats.Conn }

// NewCaller returns a caller that uses a connection, which its creator closes.
func NewCaller(conn *nats.Conn) *Caller { return &Caller{conn} }

// result is the outcome of a request.
type result struct {
	outcome Outcome
	code    string // code of a refusal, or the error if the outcome is unknown
}

// Ask sends a request that must be answered, and reads the reply into out. It is for the rig's own reads, whose
// failure ends the run.
func (c *Caller) Ask(verb string, in, out any) error {
	if res := c.call(verb, in, out); res.outcome != acked {
		return fmt.Errorf("%s: %s", verb, res.code)
	}
	return nil
}

// call sends a request and reads the reply into out. It panics only if a request of this package cannot be encoded.
func (c *Caller) call(verb string, in, out any) result {
	body, err := json.Marshal(in)
	if err != nil {
		panic(fmt.Sprintf("crash: request of %s: %v", verb, err))
	}
	reply, err := c.conn.Request("carillon.v1.default."+verb, body, replyWait)
	if err != nil {
		return unanswered(err)
	}
	if code := reply.Header.Get("Nats-Service-Error-Code"); code != "" {
		return refusal(reply.Data)
	}
	if err := json.Unmarshal(reply.Data, out); err != nil {
		return result{unknown, "unreadable reply: " + err.Error()}
	}
	return result{acked, ""}
}

// unanswered returns the result of a request without an answer. A request that had no responders, or that never left
// this process, had no effect. In all other cases the outcome is unknown. The connection buffers nothing while it is
// disconnected ([Connect]), which is why an error of the buffer proves that the request did not leave.
func unanswered(err error) result {
	switch {
	case errors.Is(err, nats.ErrNoResponders):
		return result{refused, codeNobody}
	case errors.Is(err, nats.ErrReconnectBufExceeded):
		return result{refused, codeNobody}
	default:
		return result{unknown, err.Error()}
	}
}

// The codes of refusals that the checks know. codeNobody is not a code of the server: it means that no
// server received the request.
const (
	// Only codeNobody is made by this package.
	codeNobody     = "no_responders"
	codeNotFound   = "not_found"
	codeExists     = "already_exists"
	codeConflict   = "version_conflict"
	codeNotLeader  = "not_leader"
	codeUnreadable = "unreadable"
)

// refusal reads an error reply.
func refusal(body []byte) result {
	var reply errorReply
	if err := json.Unmarshal(body, &reply); err != nil || reply.Error.Code == "" {
		return result{unknown, codeUnreadable}
	}
	return refusalOf(reply.Error)
}

// refusalOf returns the result for an error. After an error of a server that is stopping, or an internal
// error, the outcome is unknown, because the request may have taken effect.
func refusalOf(e errorBody) result {
	switch e.Code {
	case "unavailable", "internal":
		return result{unknown, e.Code + ": " + e.Message}
	default:
		return result{refused, e.Code}
	}
}
