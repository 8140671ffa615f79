package replication

import "fmt"

// subjects names the NATS subjects on which the nodes of a shard talk to each other.
type subjects struct {
	prefix  string
	shard   uint32
	several bool // the cluster has several shards: what nodes say for all of them has no number of a shard
}

// log returns the subject of the stream.
func (s subjects) log() string { return fmt.Sprintf("%s.log.%d", s.prefix, s.shard) }

// beat returns the subject on which each node publishes its state.
func (s subjects) beat() string {
	if s.several {
		return s.prefix + ".cluster.beat"
	}
	return fmt.Sprintf("%s.cluster.%d.beat", s.prefix, s.shard)
}

// host returns the subject on which one node answers one kind of request for all of its shards.
func (s subjects) host(name, what string) string {
	if s.several {
		return fmt.Sprintf("%s.cluster.node.%s.%s", s.prefix, name, what)
	}
	return s.node(name, what)
}

// durable returns the subject on which standbys publish how far their logs are durable.
func (s subjects) durable() string { return fmt.Sprintf("%s.cluster.%d.durable", s.prefix, s.shard) }

// node returns the subject on which one node answers one kind of request for this shard.
func (s subjects) node(name, what string) string {
	return fmt.Sprintf("%s.cluster.%d.node.%s.%s", s.prefix, s.shard, name, what)
}

// handover returns the subject on which the leader accepts requests to let another node lead.
func (s subjects) handover() string { return fmt.Sprintf("%s.cluster.%d.handover", s.prefix, s.shard) }

// place returns the subject on which the leader of shard 0 takes an operator's requests about nodes and places.
func (s subjects) place() string { return s.prefix + ".cluster.place" }

// founder returns the subject on which the node answers that is about to found the cluster.
func (s subjects) founder() string { return fmt.Sprintf("%s.cluster.%d.founder", s.prefix, s.shard) }

// The requests that a node answers.
const (
	askHolder = "holder" // do you hold the lease?
	askYield  = "yield"  // of two processes under the node's name: do you stay?
	askOpen   = "open"   // begin to send a checkpoint
	askPiece  = "piece"  // send a piece of it
)
