// Package replication keeps the logs of the nodes of a cluster equal: it carries the leader's commits to the
// standbys through a JetStream stream, and it chooses the node that leads.
//
// The package is not a consensus protocol. The stream puts frames in an order, and this order decides: every
// node, the leader included, accepts the first frame that continues the chain of hashes, and no other. The
// lease names the node that may try to lead. Two nodes that both believe that they lead do no harm, because the
// stream accepts the frames of only one of them.
//
// Much of the code exists because of what NATS guarantees and of what tests have seen it violate. An expected
// sequence protects only a single publication in flight. NATS can lose messages that it has acknowledged, and
// then it assigns their sequences to other messages: so a frame is identified by its position in the log, never
// by its sequence. A read of a key can be stale: only a compare-and-set decides.
package replication
