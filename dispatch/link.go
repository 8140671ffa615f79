package dispatch

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/carillon-io/carillon/fair"
	"github.com/carillon-io/carillon/job"
)

// link is the part that the kinds nats, request and jetstream share: one goroutine that publishes, one
// that confirms what was published, and a table of the attempts that wait for a reply. A thousand
// requests in flight are a thousand table entries, not a thousand goroutines.
//
// The attempts of all three kinds go through one publisher, so that they leave in the order of the tenants'
// turns and the client's buffer is filled by one goroutine.
type link struct {
	nats    *NATS
	ledger  *ledger
	logger  *slog.Logger
	rules   job.Rules // which subjects can be targets
	replies *replies

	outbox *queue[*attempt]  // to the publisher
	sent   *queue[published] // to the confirmer
	hurry  chan struct{}     // of capacity 1: a run in sent is awaited, or soon over
	pause  time.Duration     // see Options.ConfirmPause

	// Used by the publisher's goroutine only.
	message *message
	backlog fair.Queue[string, *attempt] // attempts not yet published; tenants take turns
	next    []*attempt                   // taken from the backlog and not yet published; they come first
	pruneAt int                          // length of the backlog at which it is searched for concluded attempts
	group   []published
	awaited bool // a run of the group is awaited
	isDown  bool // the last publish found no connection; only for the log

	denialLogged time.Time // used by the confirmer's goroutine only

	settle    time.Duration // see Options.Settle
	unsettled atomic.Int64  // when clients of NATS may last have lost their connections, in nanoseconds since the ledger's start

	// Only for a link in the account of a tenant; see tenantLinks.
	connected atomic.Pointer[NATS] // nats, for the readers of statistics; nil until it is connected
	stop      context.CancelFunc   // ends its goroutines
	open      atomic.Int64         // attempts that have not ended; negative: the link takes no more
	entered   atomic.Uint64        // attempts so far
	seen      uint64               // entered at the last look for idle links
}

// closedLink is added to open to close a link. Attempts that come meanwhile do not make it positive.
const closedLink = -1 << 40

// enter counts an attempt in. It returns false if the link takes no more.
func (k *link) enter() bool {
	if k.open.Add(1) <= 0 {
		k.open.Add(-1)
		return false
	}
	k.entered.Add(1)
	return true
}

// leave counts an attempt out.
func (k *link) leave() { k.open.Add(-1) }

// tryClose makes a link without attempts take no more, and reports whether it did.
func (k *link) tryClose() bool { return k.open.CompareAndSwap(0, closedLink) }

// stats returns the state of the connection; the zero value if there is none yet.
func (k *link) stats() NATSStats {
	n := k.connected.Load()
	if n == nil {
		return NATSStats{}
	}
	s := n.stats()
	s.Duplicates = k.replies.duplicates.Load()
	return s
}

// published is an attempt whose message the client has accepted, with the life of the connection at that
// time and the number in its reply subject.
type published struct {
	attempt *attempt
	life    uint64
	number  uint64
}

// newLink returns a link whose goroutines are not started yet, and without a connection.
func newLink(o Options, ledger *ledger) *link {
	return &link{
		ledger:  ledger,
		logger:  o.Logger,
		rules:   o.rules(),
		replies: newReplies(ledger),
		outbox:  newQueue[*attempt](),
		sent:    newQueue[published](),
		hurry:   make(chan struct{}, 1),
		pause:   o.ConfirmPause,
		settle:  o.Settle,
		message: newMessage(),
		backlog: fair.NewQueue[string, *attempt](publishQuantum),
		pruneAt: pruneMin,
	}
}

// attach gives a link its connection. It fails if the connection may not receive replies.
func (k *link) attach(n *NATS) error {
	k.nats = n
	k.connected.Store(n)
	k.unsettle()
	return k.replies.subscribe(n.conn)
}

// publish queues an attempt for the publisher. It never blocks.
func (k *link) publish(a *attempt) { k.outbox.push(a) }
