package dispatch

import (
	"log/slog"
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

	// Used by the publisher's goroutine only.
	message *message
	backlog fair.Queue[string, *attempt] // attempts not yet published; tenants take turns
	next    []*attempt                   // taken from the backlog and not yet published; they come first
	pruneAt int                          // length of the backlog at which it is searched for concluded attempts
	group   []published
	isDown  bool // the last publish found no connection; only for the log

	denialLogged time.Time // used by the confirmer's goroutine only
}

// published is an attempt whose message the client has accepted, and the life of the connection at that
// time.
type published struct {
	attempt *attempt
	life    uint64
}

// newLink returns a link whose goroutines are not started yet.
func newLink(o Options, ledger *ledger) (*link, error) {
	replies, err := newReplies(o.NATS.conn, ledger)
	if err != nil {
		return nil, err
	}
	return &link{
		nats:    o.NATS,
		ledger:  ledger,
		logger:  o.Logger,
		rules:   o.rules(),
		replies: replies,
		outbox:  newQueue[*attempt](),
		sent:    newQueue[published](),
		message: newMessage(),
		backlog: fair.NewQueue[string, *attempt](publishQuantum),
		pruneAt: pruneMin,
	}, nil
}

// publish queues an attempt for the publisher. It never blocks.
func (k *link) publish(a *attempt) { k.outbox.push(a) }
