package client

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/nats-io/nats.go"
)

// replyHeader is the header of every reply; it names the verb of the request.
const replyHeader = "Carillon-Reply"

// The values of that header in replies to requests that have no verb.
const (
	ReplyBackupOpen  = "backup.open"
	ReplyBackupPiece = "backup.piece"
	replyHandover    = "handover"
)

// replyMembers has, for each kind of reply, a member that every such reply has. It identifies replies of
// servers that are older than the header. A verb that is missing here would refuse the replies of such a server,
// and those of no other.
var replyMembers = map[string]string{
	"jobs.put": "job", "jobs.put_many": "results", "jobs.get": "job", "jobs.list": "jobs", "jobs.delete": "deleted",
	"jobs.pause": "job", "jobs.resume": "job", "jobs.trigger": "run", "jobs.backfill": "runs",
	"runs.list": "runs", "runs.get": "run", "runs.report": "run", "runs.extend": "deadline",
	"runs.cancel": "run", "runs.retry": "run", "runs.retry_many": "retried",
	"runs.dismiss": "run", "runs.dismiss_many": "dismissed",
	"calendars.put": "calendar", "calendars.get": "calendar", "calendars.list": "calendars", "calendars.delete": "deleted",
	"audit.list": "entries", "schedules.next": "times", "status": "role", "whoami": "server",
	ReplyBackupOpen: "files", replyHandover: "from",
}

// ErrForeignReply says that another program answered a request, such as a JetStream stream that captures
// the server's subjects. It is the Cause of an [Error], whose text says which program it was. A server
// may have carried out the request as well.
var ErrForeignReply = errors.New("the answer is not that of a Carillon server")

// checkReply returns an error if a server did not send the reply m to a request of this kind. It accepts
// a reply in which a server refuses the request.
func checkReply(kind, subject string, m *nats.Msg) error {
	if named := m.Header.Get(replyHeader); named == kind {
		return nil
	} else if named != "" {
		return foreign(fmt.Sprintf("the answer on %s is to %q, not to %q", subject, named, kind))
	}
	var members map[string]json.RawMessage
	if json.Unmarshal(m.Data, &members) != nil {
		members = nil // not a JSON object
	}
	// Before the check of members: an acknowledgement may have a member error, as a refusal has.
	if stream, ok := streamOf(members); ok {
		return foreign(fmt.Sprintf("the JetStream stream %s captures %s and acknowledged the request in place of the server: remove the server's subjects from that stream (nats stream edit %s), then repeat the request", stream, subject, stream))
	}
	if m.Header.Get(errorCodeHeader) != "" {
		var refusal Error
		if json.Unmarshal(members["error"], &refusal) == nil && refusal.Code != "" {
			return nil
		}
	} else if _, ok := members[replyMembers[kind]]; ok {
		return nil
	}
	return foreign(fmt.Sprintf("the program that answers on %s is not a Carillon server: the reply has neither the header %s nor the members of a reply to %s; is the prefix right?", subject, replyHeader, kind))
}

// named is implemented by a reply about one thing, which has a name or an id in each such reply of a server.
type named interface {
	// nameless returns what the thing is if the reply lacks its name; "" if it has one.
	nameless() string
}

// checkWhole returns an error if a reply to a verb lacks the thing that it is about, as {} and null do.
func checkWhole(verb string, reply any) error {
	if r, ok := reply.(named); ok {
		if what := r.nameless(); what != "" {
			return foreign(fmt.Sprintf("the reply to %s has no %s", verb, what))
		}
	}
	return nil
}

// namelessIf returns what a thing is if its name is empty.
func namelessIf(name, what string) string {
	if name == "" {
		return what
	}
	return ""
}

func (r *PutReply) nameless() string         { return namelessIf(r.Job.Name, "job") }
func (r *JobReply) nameless() string         { return namelessIf(r.Job.Name, "job") }
func (r *RunReply) nameless() string         { return namelessIf(r.Run.RunID, "run") }
func (r *CalendarReply) nameless() string    { return namelessIf(r.Calendar.Name, "calendar") }
func (r *CalendarPutReply) nameless() string { return namelessIf(r.Calendar.Name, "calendar") }

// streamOf returns the name of the stream if a reply is the acknowledgement of a JetStream stream.
func streamOf(members map[string]json.RawMessage) (stream string, ok bool) {
	_, stored := members["seq"]
	_, failed := members["error"]
	named := json.Unmarshal(members["stream"], &stream) == nil && stream != ""
	return stream, named && (stored || failed)
}

// foreign returns the error for a reply that no server sent.
func foreign(message string) error {
	return &Error{
		Code: CodeUnavailable, Status: http.StatusServiceUnavailable, Cause: ErrForeignReply,
		Message: message + "; whether a server carried the request out is unknown",
	}
}
