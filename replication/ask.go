package replication

import (
	"errors"
	"time"

	"github.com/nats-io/nats.go"
)

// holderQuestion asks whether a node holds the lease, and can promise not to take the lease for some time. The
// node that promises counts the time from sending. The holder counts it from the stamp, an earlier instant of
// its own clock. Each node compares only readings of its own clock, so however late a promise arrives, the
// holder never trusts it for too long.
//
// The promise travels with a question that is sent anyway, so it costs no message of its own. One question
// makes the stamp known, the next one promises for it.
type holderQuestion struct {
	Node    string        `json:"node,omitempty"`       // of several shards, the question for all says it
	Process string        `json:"process,omitempty"`    // process of the asking node; likewise
	Term    uint64        `json:"term"`                 // term in question
	Stamp   time.Duration `json:"stamp,omitempty"`      // stamp of the holder's previous reply, in nanoseconds
	Promise time.Duration `json:"promise_ns,omitempty"` // how long the asking node will not take the lease; 0: no promise
}

// heir returns the name in the lease for the process that promises. It names the process, so that the promise
// of a replaced process does not count for the present one.
func (q *holderQuestion) heir() string { return heirOf(q.Node, q.Process) }

// heirOf returns the name of a process in the list of heirs.
func heirOf(node, process string) string {
	if process == "" {
		return node // an older release, or a test
	}
	return node + "/" + process
}

// holderReply answers a holderQuestion.
type holderReply struct {
	Node    string        `json:"node,omitempty"` // of several shards, the reply for all says it
	Process string        `json:"process,omitempty"`
	Term    uint64        `json:"term"`            // term of the lease that the node holds; 0: none
	Stamp   time.Duration `json:"stamp,omitempty"` // instant of its clock, in nanoseconds; it means something to this node only
	// Head is the LSN of the newest commit that a leader had when it answered, in its log and in the stream, and Epoch that of its
	// log. 0: the node does not lead, may not launch at present, so that another one may have led since, or runs an older release.
	Head  uint64 `json:"head,omitempty"`
	Epoch uint64 `json:"epoch,omitempty"`
}

// asker keeps the state of the questions to one holder. It is for one goroutine. A new holder or term makes a
// new asker, because a stamp means something to one holder only.
type asker struct {
	holder string
	term   uint64
	stamp  time.Duration // newest stamp of the holder for which no promise was given; 0: none
}

// askEvery is the time between two questions to the holder of the lease. It bounds how soon the death of the
// holder's process is noticed. A shorter time costs messages from each standby to the leader; a longer one also
// lengthens each promise, and with it the wait of an heir.
const askEvery = 100 * time.Millisecond

// promiseTime is the length of a promise: the grace during which the holder is to trust it, plus the time to
// the next promise.
func (o Options) promiseTime() time.Duration { return o.Grace + askEvery }

// promiseWithin is how long the holder takes to answer, at most, if promises help it. A promise counts from the stamp, which is one
// answer old when it arrives, and the next one arrives an answer later, so a promise has to last for two; part of it is kept for
// answers that come later than usual. Promises to a holder that is further away would leave gaps between them in which it may not
// launch. Without any it does not wait for this node, which takes over when the lease has expired.
func (o Options) promiseWithin() time.Duration { return o.promiseTime() * 2 / 5 }

// question returns the next question to a holder that takes a time to answer. It promises for each stamp only once, so that a
// holder that does not answer receives no further promises.
func (n *Node) question(a *asker, holder string, term uint64, takes time.Duration) holderQuestion {
	if a.holder != holder || a.term != term {
		*a = asker{holder: holder, term: term}
	}
	q := holderQuestion{Node: n.opts.Node, Process: n.opts.Process, Term: term}
	if a.stamp != 0 && takes <= n.opts.promiseWithin() && !n.isBefore(holder) && n.challenger.promises.promise(n.opts.Boot(), n.opts.promiseTime(), term) {
		q.Stamp, q.Promise = a.stamp, n.opts.promiseTime()
	}
	a.stamp = 0
	return q
}

// isBefore reports whether a holder is heard that has no commits of the newest epoch that this node has, if NATS is not known to sync:
// it held the lease before another one did, and the bucket has gone back. It goes by beats alone: the log of a node whose disk hangs
// does not answer, and that node goes on promising.
func (n *Node) isBefore(holder string) bool {
	epoch := n.peers.epochOf(holder)
	return !n.opts.keepsAcked() && epoch != 0 && epoch < n.peers.epochOf(n.opts.Node)
}

// outcome returns the meaning of a reply; err is the error of the question.
func (a *asker) outcome(reply holderReply, err error) outcome {
	switch {
	case errors.Is(err, nats.ErrNoResponders), err == nil && reply.Term < a.term:
		return absent // no process answers, or the process holds no lease, as after a restart
	case err != nil:
		return unanswered
	default:
		if reply.Term == a.term {
			a.stamp = reply.Stamp
		}
		return answered
	}
}

// reply answers a question, and records the promise in it. The stamp is read before the reply leaves, so that
// it lies before every promise that repeats it.
func (n *Node) reply(q holderQuestion) holderReply {
	n.mu.Lock()
	r := holderReply{Node: n.opts.Node, Process: n.opts.Process, Term: n.term}
	n.mu.Unlock()
	if r.Term != 0 {
		r.Stamp = n.opts.Boot()
		n.promised(q)
		r.Head, r.Epoch = n.provenHead()
	}
	return r
}

// errForeignReply says that something else than a node replies on the node's subject, such as a stream that
// stores what is published there. The reply proves nothing about the node.
var errForeignReply = errors.New("replication: the answer is not that of a node; is there a JetStream stream over the subjects of the cluster?")

// A question to the holder waits for askTimeout at least, and for askMost at most, see distances. A missing answer proves nothing:
// a dead process is noticed by the reply that there are no responders, which comes at once, and not by these times. A longer
// askTimeout would delay the takeover from a holder that stands still, which needs some questions without an answer.
const (
	askTimeout = 200 * time.Millisecond
	askMost    = time.Second
)
