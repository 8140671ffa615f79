package dispatch

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/nats-io/nats.go"
)

// event is the body of an event. Its members are part of the outside contract, see
// docs/format/events.md; members may be added.
type event struct {
	Event       string `json:"event"`
	At          string `json:"at"`
	RunID       string `json:"run_id"`
	Job         string `json:"job"`
	Tenant      string `json:"tenant"`
	ScheduledAt string `json:"scheduled_at"`
	Until       string `json:"until,omitempty"`
	Status      string `json:"status"`
	Reason      string `json:"reason,omitempty"`
	Attempt     uint32 `json:"attempt"`
	Fence       uint64 `json:"fence"`
	Error       string `json:"error,omitempty"`
}

// eventName returns the name of an event, which is also the end of its subject.
func eventName(n *Announcement) string { return "run." + n.Status.String() }

// eventID returns the message id of an event: the installation, the position in its outbox, and the time
// of the change. The time distinguishes two changes with the same position, which can exist after files
// of the data directory were restored.
func eventID(origin string, n *Announcement) string {
	return fmt.Sprintf("%s.%s.%d", origin, n.ID, n.At)
}

// eventMessage returns the message of an event, which the stream acknowledges on the subject reply.
func (a *Announcer) eventMessage(n *Announcement, reply string) *nats.Msg {
	return &nats.Msg{
		Subject: a.eventSubject(n),
		Reply:   reply,
		Header:  nats.Header{nats.MsgIdHdr: {eventID(a.origin, n)}},
		Data: encodeEvent(&event{
			Event:       eventName(n),
			At:          n.At.String(),
			RunID:       n.Run.String(),
			Job:         n.Name,
			Tenant:      n.Tenant,
			ScheduledAt: n.Run.At.String(),
			Until:       n.Until.String(),
			Status:      n.Status.String(),
			Reason:      n.Reason.String(),
			Attempt:     n.Attempt,
			Fence:       n.Fence,
			Error:       maskedError(n, n.Error),
		}),
	}
}

// encodeEvent returns the JSON of an event, without a line break at the end. HTML is not escaped: < and >
// in an error text stay readable.
func encodeEvent(e *event) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(e) // strings and numbers cannot fail
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
