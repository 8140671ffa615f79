package dispatch

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/carillon-io/carillon/job"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nats.go/micro"
)

// statusNoResponders is what the server itself replies when nobody listens.
const statusNoResponders = "503"

// judge reports whether a reply means success, and whether a stream had the message already.
func judge(t job.Target, m *nats.Msg) (duplicate bool, err error) {
	nobody := len(m.Data) == 0 && m.Header.Get("Status") == statusNoResponders
	switch {
	case t.Kind == job.TargetJetStream && nobody:
		return false, fmt.Errorf("no stream takes the subject %q", t.Subject)
	case t.Kind == job.TargetJetStream:
		return judgeAck(t, m.Data)
	case nobody:
		return false, fmt.Errorf("no service listens on the subject %q", t.Subject)
	default:
		return false, judgeReply(m.Header)
	}
}

// judgeReply looks for the error headers of a NATS service. What else a reply says is the caller's. The
// codes of services are those of HTTP; one that is no number blames nobody.
func judgeReply(h nats.Header) error {
	code, text := h.Get(micro.ErrorCodeHeader), h.Get(micro.ErrorHeader)
	if code == "" && text == "" {
		return nil
	}
	number, err := strconv.Atoi(code)
	return &Failure{
		Err:        serviceError(code, text),
		Refused:    err == nil && blamesRequest(number),
		RetryAfter: parseRetryAfter(h.Get(headerRetryAfter), time.Now()),
	}
}

func serviceError(code, text string) error {
	switch {
	case code == "":
		return fmt.Errorf("service error: %s", text)
	case text == "":
		return fmt.Errorf("service error %s", code)
	default:
		return fmt.Errorf("service error %s: %s", code, text)
	}
}

var errNoAck = errors.New("the reply is no acknowledgement of a stream; does something else answer on this subject?")

// judgeAck reads a stream's acknowledgement. A duplicate is a success: the stream has the run.
func judgeAck(t job.Target, data []byte) (duplicate bool, err error) {
	var ack struct {
		Stream    string              `json:"stream"`
		Duplicate bool                `json:"duplicate"`
		Error     *jetstream.APIError `json:"error"`
	}
	if err := json.Unmarshal(data, &ack); err != nil {
		return false, errNoAck
	}
	if e := ack.Error; e != nil {
		return false, fmt.Errorf("the stream on %q refused the message: %s (code %d, error %d)", t.Subject, e.Description, e.Code, e.ErrorCode)
	}
	if ack.Stream == "" {
		return false, errNoAck
	}
	return ack.Duplicate, nil
}
