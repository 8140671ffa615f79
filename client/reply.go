package client

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/nats-io/nats.go"
)

// replyHeader is the header of every reply, which names what was asked for.
const replyHeader = "Carillon-Reply"

// What replies besides those of the verbs have in that header.
const (
	ReplyBackupOpen  = "backup.open"
	ReplyBackupPiece = "backup.piece"
	replyHandover    = "handover"
)

// replyMembers has a member that every reply of a kind has. By it a reply is known that comes from a server of the
// release before the header.
var replyMembers = map[string]string{
	"jobs.put": "job", "jobs.put_many": "results", "jobs.get": "job", "jobs.list": "jobs", "jobs.delete": "deleted",
	"jobs.pause": "job", "jobs.resume": "job", "jobs.trigger": "run", "jobs.backfill": "runs",
	"runs.list": "runs", "runs.get": "run", "runs.report": "run", "runs.extend": "deadline",
	"runs.cancel": "run", "runs.retry": "run", "runs.retry_many": "retried",
	"calendars.put": "calendar", "calendars.get": "calendar", "calendars.list": "calendars", "calendars.delete": "deleted",
	"audit.list": "entries", "schedules.next": "times", "status": "role",
	ReplyBackupOpen: "files", replyHandover: "from",
}

// ErrForeignReply says that something else than a server answered a request, such as a JetStream stream that
// stores what is sent to the server's subjects. It is the Cause of an [Error], whose text says what did. A server
// may have carried the request out besides.
var ErrForeignReply = errors.New("the answer is not that of a Carillon server")

// checkReply refuses an answer to a request of a kind that no server gave. A refusal of a server passes.
func checkReply(kind, subject string, m *nats.Msg) error {
	if named := m.Header.Get(replyHeader); named == kind {
		return nil
	} else if named != "" {
		return foreign(fmt.Sprintf("the answer on %s is to %q, not to %q", subject, named, kind))
	}
	var members map[string]json.RawMessage
	if json.Unmarshal(m.Data, &members) != nil {
		members = nil // no object has no members
	}
	if stream, ok := streamOf(members); ok {
		return foreign(fmt.Sprintf("the JetStream stream %s captures %s and acknowledged the request in the server's place: take the server's subjects out of that stream (nats stream edit %s), then ask again", stream, subject, stream))
	}
	if m.Header.Get(errorCodeHeader) != "" {
		var refusal Error
		if json.Unmarshal(members["error"], &refusal) == nil && refusal.Code != "" {
			return nil
		}
	} else if _, ok := members[replyMembers[kind]]; ok {
		return nil
	}
	return foreign(fmt.Sprintf("what answers on %s is no Carillon server: the reply has neither the header %s nor what a reply to %s holds; is the prefix another one?", subject, replyHeader, kind))
}

// streamOf returns the stream that acknowledged a message, if an answer is such an acknowledgement.
func streamOf(members map[string]json.RawMessage) (stream string, ok bool) {
	_, stored := members["seq"]
	_, failed := members["error"]
	named := json.Unmarshal(members["stream"], &stream) == nil && stream != ""
	return stream, named && (stored || failed)
}

func foreign(message string) error {
	return &Error{
		Code: CodeUnavailable, Status: http.StatusServiceUnavailable, Cause: ErrForeignReply,
		Message: message + "; whether a server carried the request out is unknown",
	}
}
