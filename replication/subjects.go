package replication

import "fmt"

// subjects names what the nodes of a shard say to one another.
type subjects struct {
	prefix string
	shard  uint32
}

// log is the subject of the stream.
func (s subjects) log() string { return fmt.Sprintf("%s.log.%d", s.prefix, s.shard) }

// beat is where nodes tell how they are.
func (s subjects) beat() string { return fmt.Sprintf("%s.cluster.%d.beat", s.prefix, s.shard) }

// node is where one node is asked for something.
func (s subjects) node(name, what string) string {
	return fmt.Sprintf("%s.cluster.%d.node.%s.%s", s.prefix, s.shard, name, what)
}

// handover is where whoever leads is asked to let another lead.
func (s subjects) handover() string { return fmt.Sprintf("%s.cluster.%d.handover", s.prefix, s.shard) }

// What a node can be asked for.
const (
	askHolder = "holder" // do you hold the lease?
	askOpen   = "open"   // begin to send a checkpoint
	askPiece  = "piece"  // send a piece of it
)
