package dispatch

import (
	"strconv"

	"github.com/carillon-io/carillon/job"
	"github.com/nats-io/nats.go"
)

// message builds the NATS message of an attempt, again and again in the same memory: the client copies
// it into its buffer before PublishMsg returns. It belongs to one goroutine. The header map is
// written directly, because its Set method would be free to change the case of names.
type message struct {
	msg    nats.Msg
	runID  []string
	job    []string
	tenant []string
	at     []string
	number []string
	fence  []string
	own    []string // values of the job's own headers
	parent []string // traceparent
	state  []string // tracestate

	atMillis job.Millis // what at says: runs that are due together share it
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

// of returns the message of a delivery. It is good until the next call of any method. With a trace its
// headers stand in the place of the job's own.
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

// follow puts the headers of a trace into the message.
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

// drop removes what the delivery brought, so that nothing of it reaches the next one or is kept alive.
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
