// Package replication keeps the nodes of a cluster level with one another: it carries the commits of
// the leader to the others through a JetStream stream, and sees to it that one node leads.
//
// It is no consensus of its own. The stream puts frames in an order, and the order decides: every node,
// the leader included, accepts the first frame that continues the chain of hashes, and no other. The
// lease says who may try to lead; that two believe to lead harms nothing, because only one of them gets
// its frames accepted.
//
// What NATS promises, and what it was seen to break, is the reason for much of the code. An expected
// sequence is a fence only with one publish in flight. Acknowledged messages may be lost, so that a
// sequence may come twice with other content: a frame is known by its position, never by its sequence.
// A read of a key may be stale: only compare-and-set decides.
package replication
