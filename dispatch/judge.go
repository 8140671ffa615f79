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

// statusNoResponders is the status with which the NATS server replies if a subject has no subscriber.
const statusNoResponders = "503"

// isUnserved reports whether a reply is that of the NATS server to a message that nobody receives.
func isUnserved(m *nats.Msg) bool {
	return len(m.Data) == 0 && m.Header.Get("Status") == statusNoResponders
}

// judge returns nil if a reply means success, otherwise the failure. duplicate says that a stream
// already had the message.
func judge(t job.Target, m *nats.Msg) (duplicate bool, err error) {
	unserved := isUnserved(m)
	switch {
	case t.Kind == job.TargetJetStream && unserved:
		return false, fmt.Errorf("no stream takes the subject %q", t.Subject)
	case t.Kind == job.TargetJetStream:
		return judgeAck(t, m.Data)
	case unserved && t.Kind == job.TargetNATS:
		return false, fmt.Errorf("nobody receives the subject %q", t.Subject)
	case unserved:
		return false, fmt.Errorf("no service listens on the subject %q", t.Subject)
	default:
		return false, judgeReply(m.Header)
	}
}

// judgeReply returns the failure in the error headers of a NATS service, nil if there is none. It
// ignores the body of a reply. The error codes of services are those of HTTP; a code that is not a
// number does not refuse the run.
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

// serviceError returns the failure that a NATS service reports, from the values of its two error
// headers.
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

var errNoAck = errors.New("the reply is not an acknowledgement of a stream; does another program answer on this subject?")

// judgeAck reads a stream's acknowledgement. A duplicate is a success, because the stream has the run. A
// reply that is not one must not count as success: a program that answers on the stream's subject would
// otherwise make runs appear stored.
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
