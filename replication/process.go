package replication

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-io/carillon/inbox"
)

// NewProcess draws an identifier that no other process has. Identifiers sort by the start of their processes,
// as far as the clocks of the machines agree. yieldsTo depends on this order, so the digits of the time come
// first and have a fixed width.
func NewProcess() string {
	b := make([]byte, 8)
	_, _ = rand.Read(b) // never fails
	return fmt.Sprintf("%012x", time.Now().UnixMilli()) + hex.EncodeToString(b)
}

// ErrReplaced is returned by [Node.Run] if another process runs under the node's name and that one is to go on.
// This happens when a process stood still, was replaced, and wakes up.
var ErrReplaced = errors.New("replication: this process was replaced")

// twin is the agreement with another process that runs under this node's name. The process that is to end asks
// the other one whether it stays, and ends only when that one confirms it. A process that confirms withdraws
// its own question, so the two never both end. Safe for concurrent use.
type twin struct {
	beats chan beat // beats of the other process, read by watchTwin; capacity 1

	mu     sync.Mutex
	asking bool // this process has asked the other one whether it stays
	ends   bool // the other process has confirmed that it stays: this one ends
}

// yieldRequest asks another process of the node's name whether it stays.
type yieldRequest struct {
	Process string `json:"process"` // the process that asks, and would end
	To      string `json:"to"`      // the process that is asked
}

// yieldReply confirms that the process stays.
type yieldReply struct {
	Node    string `json:"node"`
	Process string `json:"process"` // the process that stays
}

// meet passes on a beat of another process of this name. It never blocks: if the channel is full the beat is
// dropped, and the next one follows.
func (t *twin) meet(b beat) {
	select {
	case t.beats <- b:
	default:
	}
}

// begin notes that this process has asked whether the other one stays.
func (t *twin) begin() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.asking = true
}

// finish records the answer, and reports whether this process ends.
func (t *twin) finish(stays bool) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ends = t.ends || t.asking && stays
	t.asking = false
	return t.ends
}

// mayStay reports whether this process may confirm that it stays. If both processes ask each other, only the
// one that started later may.
func (t *twin) mayStay(later bool) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ends || t.asking && !later {
		return false
	}
	t.asking = false
	return true
}

// watchTwin ends this process, with ErrReplaced as the cause, if another one runs under the node's name and is
// to go on.
func (n *Node) watchTwin(ctx context.Context, end context.CancelCauseFunc) {
	for {
		select {
		case <-ctx.Done():
			return
		case b := <-n.twin.beats:
			n.warn("another process runs under the name of this node; one of the two ends", errTwin(b))
			yields, why := n.yieldsTo(ctx, b)
			if yields && n.yield(ctx, b.Process) {
				err := fmt.Errorf("%w: another one goes by its node's name %q, and %s; this one ends. Give each node a name of its own (--node)", ErrReplaced, n.opts.Node, why)
				n.opts.Logger.Error("this process ends", slog.Any("error", err))
				end(err)
				return
			}
		}
	}
}

func errTwin(b beat) error {
	return fmt.Errorf("process %q is %s at commit %d", b.Process, b.Role, b.LSN)
}

// yieldsTo reports whether this process is the one to end, and why: the process that has the lease goes on; if
// neither has it, the one that was started later does. A process of a release without such identifiers never
// counts as later. If the lease cannot be read, this process goes on, and the next beat of the other one
// repeats the decision.
func (n *Node) yieldsTo(ctx context.Context, b beat) (yields bool, why string) {
	v, revision, err := n.bucket.read(ctx)
	if err != nil {
		return false, ""
	}
	n.mu.Lock()
	held := n.term
	n.mu.Unlock()
	switch {
	case held > v.Term: // an old state of the lease was read
		return false, ""
	case revision != 0 && v.Node == n.opts.Node && v.Process == n.opts.Process && !v.Released:
		return false, ""
	case revision != 0 && v.Node == n.opts.Node && v.Process == b.Process && !v.Released:
		return true, "has the lease"
	}
	return n.opts.Process < b.Process, "was started later"
}

// yield asks the other process whether it stays, and reports whether this one ends. Without a reply it goes on:
// that two processes run for a little longer does no harm, because the log and the lease tell them apart, but
// that both end would.
func (n *Node) yield(ctx context.Context, to string) bool {
	if to == "" {
		return true // that release does not know the question, and never ends by itself
	}
	n.twin.begin()
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	question, _ := json.Marshal(yieldRequest{Process: n.opts.Process, To: to}) // strings: it cannot fail
	var reply yieldReply
	m, err := n.opts.Conn.RequestWithContext(ctx, n.subjects().node(n.opts.Node, askYield), question)
	stays := err == nil && json.Unmarshal(m.Data, &reply) == nil && reply.Node == n.opts.Node && reply.Process == to
	return n.twin.finish(stays)
}

// answerYield confirms to another process of this name that this one stays.
func (n *Node) answerYield(m *inbox.Request) {
	var request yieldRequest
	if json.Unmarshal(m.Data, &request) != nil || request.To != n.opts.Process || n.resigned() {
		return
	}
	if n.twin.mayStay(n.opts.Process > request.Process) {
		respond(m, "cluster."+askYield, yieldReply{Node: n.opts.Node, Process: n.opts.Process})
	}
}

// askHolderProcess asks the process that holds the lease after another process of its name has answered. If the
// holder does not answer, the other one's answer counts.
func (n *Node) askHolderProcess(ctx context.Context, node, process string) (reply holderReply, err error) {
	foreign := true
	err = n.askAll(ctx, n.subjects().node(node, askHolder), func(m *nats.Msg) (enough bool) {
		var r holderReply
		if json.Unmarshal(m.Data, &r) != nil || r.Node != node {
			return false
		}
		reply, foreign = r, false
		return r.Process == process
	})
	switch {
	case errors.Is(err, nats.ErrNoResponders):
		return reply, err
	case foreign:
		return reply, errForeignReply
	}
	return reply, nil
}

// askAll sends a request and passes each reply to handle, until handle returns true or ctx ends, whose error it
// then returns. It returns [nats.ErrNoResponders] if no subscriber exists. It reads several replies because a
// JetStream stream over the subject replies too.
func (n *Node) askAll(ctx context.Context, subject string, handle func(*nats.Msg) (enough bool)) error {
	inbox := n.opts.Conn.NewInbox()
	sub, err := n.opts.Conn.SubscribeSync(inbox)
	if err != nil {
		return err
	}
	defer func() { _ = sub.Unsubscribe() }()
	if err := n.opts.Conn.PublishRequest(subject, inbox, nil); err != nil {
		return err
	}
	for {
		m, err := sub.NextMsgWithContext(ctx)
		switch {
		case err != nil:
			return err
		case len(m.Data) == 0 && m.Header.Get("Status") == "503":
			return nats.ErrNoResponders
		case handle(m):
			return nil
		}
	}
}

// replaced returns why this process must end in favour of another one of its name; nil if it need not.
func (n *Node) replaced(ctx context.Context) error {
	if cause := context.Cause(ctx); errors.Is(cause, ErrReplaced) {
		return cause
	}
	return nil
}
