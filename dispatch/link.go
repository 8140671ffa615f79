package dispatch

import (
	"log/slog"
	"time"

	"github.com/carillon-io/carillon/fair"
	"github.com/carillon-io/carillon/job"
)

// link is what the kinds nats, request and jetstream share: one goroutine that publishes, one that
// confirms what was published, and the table of those that wait for a reply. A thousand requests in
// flight are a thousand table entries, not goroutines.
type link struct {
	nats    *NATS
	ledger  *ledger
	logger  *slog.Logger
	rules   job.Rules // which subjects are no targets
	replies *replies

	outbox *queue[*attempt]  // to the publisher
	sent   *queue[published] // to the confirmer

	// The publisher's.
	message *message
	backlog fair.Queue[string, *attempt] // not published yet; tenants take turns
	next    []*attempt                   // whose turn it is, before those
	pruneAt int                          // length of the backlog that calls for a search
	group   []published
	isDown  bool

	denialLogged time.Time // the confirmer's
}

// published is an attempt whose message the client has, and the life of the connection by then.
type published struct {
	attempt *attempt
	life    uint64
}

func newLink(o Options, ledger *ledger) (*link, error) {
	replies, err := newReplies(o.NATS.conn, ledger)
	if err != nil {
		return nil, err
	}
	return &link{
		nats:    o.NATS,
		ledger:  ledger,
		logger:  o.Logger,
		rules:   job.Rules{Prefix: o.Prefix, InboxPrefixes: o.InboxPrefixes},
		replies: replies,
		outbox:  newQueue[*attempt](),
		sent:    newQueue[published](),
		message: newMessage(),
		backlog: fair.NewQueue[string, *attempt](publishQuantum),
		pruneAt: pruneMin,
	}, nil
}

// publish lines an attempt up. It never blocks.
func (k *link) publish(a *attempt) { k.outbox.push(a) }
