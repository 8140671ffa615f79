package replication

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-io/carillon/inbox"
)

// holderReply answers whether a node holds the lease.
type holderReply struct {
	Node string `json:"node"`
	Term uint64 `json:"term"` // that it holds; 0: it holds none
}

// handover is a request to let another node lead.
type handover struct {
	to    string // "" is whoever is furthest
	reply func(to string, err error)
}

// HandoverReply answers a request to hand over.
type HandoverReply struct {
	From  string `json:"from"`
	To    string `json:"to,omitempty"`
	Error string `json:"error,omitempty"`
}

// handoverRequest is such a request.
type handoverRequest struct {
	To string `json:"to"`
}

// replyHandover is what the header of a reply to it names.
const replyHandover = "handover"

// HandoverSubject returns the subject on which the leader of a shard takes requests to hand over: a JSON
// object with the optional member "to", answered by a [HandoverReply].
func HandoverSubject(prefix string, shard uint32) string { return subjects{prefix, shard}.handover() }

// listen answers the other nodes, and begins to watch them.
func (n *Node) listen(ctx context.Context) error {
	desk := inbox.NewDesk(n.opts.Conn, n.opts.Inboxes, n.opts.Logger)
	for subject, handle := range map[string]func(*inbox.Request){
		n.subjects().beat():                       n.hearBeat,
		n.subjects().node(n.opts.Node, askHolder): n.answerHolder,
		n.subjects().node(n.opts.Node, askOpen):   n.answerOpen,
		n.subjects().node(n.opts.Node, askPiece):  n.answerPiece,
		n.subjects().handover():                   n.answerHandover,
	} {
		sub, err := desk.Subscribe(subject, handle)
		if err != nil {
			return fmt.Errorf("replication: subscribe to %s: %w", subject, err)
		}
		n.subs = append(n.subs, sub)
	}
	n.watchers.Go(func() { n.watchLease(ctx) })
	n.watchers.Go(func() { n.askHolders(ctx) })
	n.watchers.Go(func() { n.beatAll(ctx) })
	return nil
}

// silence ends what listen began.
func (n *Node) silence() {
	for _, sub := range n.subs {
		_ = sub.Unsubscribe()
	}
	n.watchers.Wait()
	n.offers.close()
}

// help runs what a reign needs beside the engine, until ctx ends.
func (n *Node) help(ctx context.Context) {
	helpers := &n.reign.helpers
	helpers.Go(func() { n.renewAll(ctx) })
	helpers.Go(func() { n.watchLink(ctx) })
	helpers.Go(func() { n.trimAll(ctx) })
	if n.opts.Local {
		helpers.Go(func() { n.pump(ctx) })
	}
}

// errNameTaken says that another process goes by a node's name.
var errNameTaken = errors.New("replication: a node of this name is in the cluster already")

// unique makes sure that no other process goes by this node's name.
func (n *Node) unique(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	if _, err := n.askHolder(ctx, n.opts.Node); err == nil {
		return fmt.Errorf("%w: %q; give each node a name of its own (--node)", errNameTaken, n.opts.Node)
	}
	return nil
}

func (n *Node) answerHolder(m *inbox.Request) {
	n.mu.Lock()
	reply := holderReply{Node: n.opts.Node, Term: n.term}
	n.mu.Unlock()
	respond(m, "cluster."+askHolder, reply)
}

func respond(m *inbox.Request, to string, reply any) {
	if b, err := json.Marshal(reply); err == nil {
		_ = m.Answer(to, nil, b) // the node that asked asks again
	}
}

// errForeignReply says that something else than a node answers on its subject, such as a stream that stores what
// is sent there. It says nothing of the node.
var errForeignReply = errors.New("replication: the answer is not that of a node; is there a JetStream stream over the subjects of the cluster?")

// askHolder asks a node whether it holds the lease.
func (n *Node) askHolder(ctx context.Context, node string) (reply holderReply, err error) {
	m, err := n.opts.Conn.RequestWithContext(ctx, n.subjects().node(node, askHolder), nil)
	if err != nil {
		return reply, err
	}
	if json.Unmarshal(m.Data, &reply) != nil || reply.Node != node {
		return reply, errForeignReply
	}
	return reply, nil
}

// askTimeout bounds a question to the holder. No answer in time may mean anything.
const askTimeout = 200 * time.Millisecond

// isGone asks a node whether it holds the lease of a term. The node is gone if nothing is there to answer, or
// if it holds none, as after a restart.
func (n *Node) isGone(ctx context.Context, node string, term uint64) bool {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	reply, err := n.askHolder(ctx, node)
	if err != nil {
		return errors.Is(err, nats.ErrNoResponders)
	}
	return reply.Term < term
}

// isThere tells whether a node answers just now.
func (n *Node) isThere(ctx context.Context, node string) bool {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	_, err := n.askHolder(ctx, node)
	return err == nil
}

// answerHandover passes a request to hand over on to the loop. Only the leader answers.
func (n *Node) answerHandover(m *inbox.Request) {
	n.mu.Lock()
	leads := n.role == RoleLeader
	n.mu.Unlock()
	if !leads {
		return
	}
	var request handoverRequest
	if len(m.Data) > 0 && json.Unmarshal(m.Data, &request) != nil {
		respond(m, replyHandover, HandoverReply{From: n.opts.Node, Error: `want a JSON object, such as {"to":"node-b"}`})
		return
	}
	h := handover{to: request.To, reply: func(to string, err error) {
		reply := HandoverReply{From: n.opts.Node, To: to}
		if err != nil {
			reply.Error = err.Error()
		}
		respond(m, replyHandover, reply)
	}}
	select {
	case n.wanted <- h:
	default:
		h.reply("", errors.New("another hand-over is under way"))
	}
}

// Resign lets another node lead, if there is one, and ends Run. It does not wait.
func (n *Node) Resign() { n.stopped.Do(func() { close(n.stop) }) }

func (n *Node) resigned() bool {
	select {
	case <-n.stop:
		return true
	default:
		return false
	}
}

// warn logs what goes wrong again and again, but not each time.
func (n *Node) warn(what string, err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	now := time.Now()
	if now.Sub(n.warned[what]) < warnBetween {
		return
	}
	n.warned[what] = now
	n.opts.Logger.Warn(what, slog.Any("error", err))
}
