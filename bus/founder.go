package bus

import (
	"github.com/carillon-io/carillon/inbox"
	"github.com/carillon-io/carillon/replication"
)

// answerFounder makes empty nodes wait for this one, if it is to found the cluster. An empty node that met only other
// empty nodes would found a cluster without data. This answer is why it does not, so it begins before any wait of the
// start.
func (b *Bus) answerFounder() (err error) {
	if !b.opts.Founding {
		return nil
	}
	b.founder, err = replication.AnswerFounder(inbox.NewDesk(b.api, b.opts.Inboxes, b.opts.Logger), b.opts.Prefix, 0, b.opts.Node, b.opts.ClusterName)
	return err
}

// Founded ends the answers to empty nodes that wait for the founder of the cluster: it now exists. It does nothing on
// a node that is no founder. The caller calls it when the log of the cluster is in NATS, from which empty nodes learn
// the same.
func (b *Bus) Founded() {
	if b.founder != nil {
		_ = b.founder.Unsubscribe()
	}
}
