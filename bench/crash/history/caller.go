package history

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
)

// replyWait is how long a client waits for an answer. A request in the hands of a server that is
// killed is never answered.
const replyWait = 1500 * time.Millisecond

// Caller sends requests to the server. It is safe for concurrent use.
type Caller struct{ conn *nats.Conn }

// NewCaller returns a caller that uses a connection of somebody else's.
func NewCaller(conn *nats.Conn) *Caller { return &Caller{conn} }

// result is what became of a request.
type result struct {
	outcome Outcome
	code    string // of a refusal; what went wrong, if unknown
}

// Ask sends a request that must be answered, and reads the reply into out.
func (c *Caller) Ask(verb string, in, out any) error {
	if res := c.call(verb, in, out); res.outcome != acked {
		return fmt.Errorf("%s: %s", verb, res.code)
	}
	return nil
}

// call sends a request and reads the reply into out.
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

// unanswered says what the lack of an answer means. A request that NATS had nobody to give to, or
// that never left this process, did not happen. All else is unknown.
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

// Codes of refusals that the checks know. codeNobody is our own: nobody got the request.
const (
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

// refusalOf says what an error means. A server that is going down, or that failed inside, may have done
// what it was asked for all the same.
func refusalOf(e errorBody) result {
	switch e.Code {
	case "unavailable", "internal":
		return result{unknown, e.Code + ": " + e.Message}
	default:
		return result{refused, e.Code}
	}
}
