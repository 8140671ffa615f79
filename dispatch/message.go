package dispatch

import (
	"strconv"

	"github.com/carillon-io/carillon/instant"
	"github.com/carillon-io/carillon/job"
	"github.com/nats-io/nats.go"
)

// message builds the NATS messages of attempts, all of them in the same memory: the client copies a
// message into its buffer before PublishMsg returns. One goroutine uses it. It writes the header map
// directly, because the map's Set method may change the case of names.
//
// The price of the reuse is drop: what one delivery has set must be gone before the next.
//
// Invariant: between drop and the next message, the header has only the names that newMessage gave it.
type message struct {
	msg    nats.Msg
	runID  []string
	job    []string
	tenant []string
	at     []string
	number []string
	fence  []string
	own    []string // memory for the values of the job's own headers
	parent []string // traceparent
	state  []string // tracestate

	atMillis instant.Millis // the time that at holds as text; runs that are due at the same time share it
}

func newMessage() *message {
	m := &message{
		runID: make([]string, 1), job: make([]string, 1), tenant: make([]string, 1),
		at: make([]string, 1), number: make([]string, 1), fence: make([]string, 1),
		parent: make([]string, 1), state: make([]string, 1),
	}
	m.msg.Header = nats.Header{
		nats.MsgIdHdr:     m.runID,
		headerRunID:       m.runID,
		headerJob:         m.job,
		headerTenant:      m.tenant,
		headerScheduledAt: m.at,
		headerAttempt:     m.number,
		headerFence:       m.fence,
	}
	return m
}

// of returns the message of a delivery. The message is valid until the next call of any method. If t has
// the headers of a trace, they replace the job's own headers of the same names.
func (m *message) of(d *job.Delivery, reply string, t traceHeaders) *nats.Msg {
	m.msg.Subject, m.msg.Reply, m.msg.Data = d.Target.Subject, reply, d.Payload
	m.runID[0], m.job[0], m.tenant[0] = d.Run.String(), d.Name, d.Tenant
	if d.Run.At != m.atMillis {
		m.at[0], m.atMillis = d.Run.At.String(), d.Run.At
	}
	m.number[0] = strconv.FormatUint(uint64(d.Attempt), 10)
	m.fence[0] = strconv.FormatUint(d.Fence, 10)
	m.own = m.own[:0]
	for _, h := range d.Headers {
		m.own = append(m.own, h.Value)
		last := len(m.own)
		m.msg.Header[h.Key] = m.own[last-1 : last : last]
	}
	if t.parent != "" {
		m.follow(d, t)
	}
	return &m.msg
}

// follow sets the headers of a trace in the message.
func (m *message) follow(d *job.Delivery, t traceHeaders) {
	for _, h := range d.Headers {
		if isTraceHeader(h.Key) {
			delete(m.msg.Header, h.Key)
		}
	}
	m.parent[0], m.state[0] = t.parent, t.state
	m.msg.Header[headerTraceparent] = m.parent
	if t.state != "" {
		m.msg.Header[headerTracestate] = m.state
	}
}

// drop removes the headers of the delivery from the message, so that they neither reach the next target
// nor stay in memory.
func (m *message) drop(d *job.Delivery) {
	for _, h := range d.Headers {
		delete(m.msg.Header, h.Key)
	}
	if m.parent[0] != "" {
		delete(m.msg.Header, headerTraceparent)
		delete(m.msg.Header, headerTracestate)
		m.parent[0] = ""
	}
	clear(m.own)
	m.msg.Data = nil
}
