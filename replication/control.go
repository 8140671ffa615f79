package replication

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/carillon-io/carillon/apierr"
	"github.com/carillon-io/carillon/inbox"
	"github.com/carillon-io/carillon/job"
)

// handover is an operator's request to let another node lead.
type handover struct {
	to    string // "": the standby with the most commits
	by    string // what the operator calls itself
	own   bool   // Carillon itself asks, to spread the leaderships
	reply func(to string, err error)
}

// HandoverReply answers a request to hand over.
type HandoverReply struct {
	From  string `json:"from"`
	To    string `json:"to,omitempty"`
	Error string `json:"error,omitempty"`
	Code  string `json:"code,omitempty"` // "unavailable": another attempt may succeed later
}

// handoverRequest is the content of such a request.
type handoverRequest struct {
	To *string `json:"to,omitempty"` // nil: the standby with the most commits
	// Own says that a node asks, to spread the leaderships, and no operator: the audit log has no entry.
	Own bool `json:"own,omitempty"`
}

// read decodes a request, and returns the node that it names; "" if it names none.
func (r *handoverRequest) read(data []byte) (to string, err error) {
	if len(data) > 0 {
		err = readOperator(data, r, `{"to":"node-b"}`)
	}
	switch {
	case err != nil || r.To == nil:
		return "", err
	case *r.To == "":
		return "", apierr.Errorf(apierr.InvalidField, "to", "is empty; want the name of a standby, or leave it out for the one with the most commits; nothing has changed")
	}
	return *r.To, nil
}

// replyHandover is the value of the reply header that marks a HandoverReply.
const replyHandover = "handover"

// HandoverSubject returns the subject on which the leader of a shard accepts requests to hand over. A request
// is a JSON object with the optional member "to"; the reply is a [HandoverReply].
func HandoverSubject(prefix string, shard uint32) string {
	return subjects{prefix: prefix, shard: shard}.handover()
}

// listen subscribes to the requests and beats of the other nodes, and starts the goroutines that watch them. It
// calls end if this process must yield to another one of its name. After an error no subscription is left.
//
// The handlers run on the goroutines of their subscriptions, beside the loop of Run, so they use only what is
// safe for concurrent use. What takes long, they pass on.
func (n *Node) listen(ctx context.Context, end context.CancelCauseFunc) error {
	desk := inbox.NewDesk(n.opts.Conn, n.opts.Inboxes, n.opts.Logger)
	for subject, handle := range map[string]func(*inbox.Request){
		n.subjects().durable():                   n.hearDurable,
		n.subjects().node(n.opts.Node, askOpen):  n.answerOpen,
		n.subjects().node(n.opts.Node, askPiece): n.answerPiece,
		n.subjects().handover():                  n.answerHandover,
	} {
		sub, err := desk.Subscribe(subject, handle)
		if err != nil {
			n.unsubscribe()
			return fmt.Errorf("replication: subscribe to %s: %w", subject, err)
		}
		n.subs = append(n.subs, sub)
	}
	if err := n.host.enter(n, end); err != nil {
		n.unsubscribe()
		return err
	}
	n.watchers.Go(func() { n.watchLease(ctx) })
	return nil
}

// unlisten stops what listen started, and waits for it and for the checkpoints being made. The note that this node
// ends follows its last beat: a later beat would make the others count the node as present again.
func (n *Node) unlisten() {
	n.unsubscribe()
	n.host.leave(n)
	n.watchers.Wait()
	n.publishDurable(job.Position{}, true) // after its last beat
	n.offers.Close()
}

func (n *Node) unsubscribe() {
	for _, sub := range n.subs {
		_ = sub.Unsubscribe()
	}
	n.subs = nil
}

// help starts the goroutines that a leadership needs beside the engine. They run until ctx ends. They end with
// the leadership and not with the process, because a node that follows must neither renew nor trim.
func (n *Node) help(ctx context.Context) {
	helpers := &n.leadership.helpers
	if n.host.lease != nil {
		helpers.Go(func() { n.host.lease.lead(ctx, n) })
	} else {
		helpers.Go(func() { n.renewAll(ctx) })
	}
	helpers.Go(func() { n.trimAll(ctx) })
	helpers.Go(func() { n.keepSeats(ctx) })
	if n.opts.Local {
		helpers.Go(func() { n.pump(ctx) })
	}
}

// respond sends a reply as JSON. It ignores errors, because the asking node tries again.
func respond(m *inbox.Request, to string, reply any) {
	if b, err := json.Marshal(reply); err == nil {
		_ = m.Answer(to, nil, b) // the asking node tries again
	}
}

// answerHandover passes a request to hand over to the loop of the leader, and refuses it if this node has the lease and does not lead
// yet. Another node does not answer: all nodes subscribe to the subject, so that the sender need not know which one leads, and a
// refusal by a standby could arrive before the leader's reply.
func (n *Node) answerHandover(m *inbox.Request) {
	role := n.Role()
	if role != RoleLeader && role != RoleCandidate {
		return
	}
	var request handoverRequest
	to, err := request.read(m.Data)
	if err != nil {
		respond(m, replyHandover, HandoverReply{From: n.opts.Node, Error: err.Error(), Code: string(apierr.InvalidField)})
		return
	}
	h := handover{to: to, by: m.Header.Get(byHeader), own: request.Own, reply: func(to string, err error) {
		reply := HandoverReply{From: n.opts.Node, To: to}
		if err != nil {
			reply.Error, reply.Code = err.Error(), string(refusalCode(err))
		}
		respond(m, replyHandover, reply)
	}}
	if role == RoleCandidate {
		h.reply("", errBegins)
	} else if err := n.wanted.ask(h); err != nil {
		h.reply("", err)
	}
}

// refusalCode returns the code of the error of a hand-over; "" if the error stays until an operator changes something. It is
// [apierr.Unavailable] if a later request may succeed by itself: to the leader, or to the one that leads by then.
func refusalCode(err error) apierr.Code {
	if refusal, is := errors.AsType[*apierr.Error](err); is {
		return refusal.Code
	}
	if still := (*stillError)(nil); errors.As(err, &still) || errors.Is(err, ErrDeposed) {
		return apierr.Unavailable
	}
	return ""
}

// Resign makes Run hand over to another node, if there is one, and return. Resign itself does not wait. It is
// safe for concurrent use, and later calls do nothing.
func (n *Node) Resign() { n.stopped.Do(func() { close(n.stop) }) }

func (n *Node) resigned() bool {
	select {
	case <-n.stop:
		return true
	default:
		return false
	}
}
