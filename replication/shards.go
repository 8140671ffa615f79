package replication

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"

	"github.com/carillon-io/carillon/job"
)

// ErrOtherShards says that a stream shows another division into shards than this node's options.
var ErrOtherShards = errors.New("replication: the cluster is divided into other shards")

// Keys of the metadata of a stream in a cluster with several shards.
const (
	metaShards = "carillon_shards" // how many there are; missing: one
	metaSlots  = "carillon_slots"  // first and last slot of the stream's shard, such as 64-127
	// metaFounder is in the stream of shard 0 while a founder with data of its own makes the streams of the others: only
	// that node knows from which LSN on each has its log, so no other node makes one. It has the name of the node.
	metaFounder = "carillon_founder"
)

// layout says which shard of how many a stream has the log of. The zero value is the only one of a cluster.
type layout struct {
	shard   uint32
	shards  int
	founder string // of the stream of shard 0, when it is made: see metaFounder; "": none
	whole   bool   // of the stream of shard 0, when it is made anew: see metaWhole
}

// slots returns the text of the shard's slots.
func (l layout) slots() string {
	first, last := job.SlotsOf(l.shard, l.shards)
	return fmt.Sprintf("%d-%d", first, last)
}

// describe adds to the metadata of a new stream what the shards are. With one shard nothing is added, so that older
// releases read the stream.
func (l layout) describe(metadata map[string]string) {
	if l.founder != "" {
		metadata[metaFounder] = l.founder
	}
	if l.shards > 1 {
		metadata[metaFormat], metadata[metaShards], metadata[metaSlots] = streamFormatOfShards, strconv.Itoa(l.shards), l.slots()
	}
	if l.shards > 1 && l.shard == 0 && l.whole {
		metadata[metaWhole] = "yes"
	}
}

// check returns an error if the metadata of a stream shows other shards. Nodes with different divisions would each
// have jobs of a shard that another one leads.
func (l layout) check(stream string, metadata map[string]string) error {
	shards, err := ShardsOf(metadata)
	switch own := max(l.shards, 1); {
	case err != nil:
		return fmt.Errorf("%w: the stream %s: %w", ErrOtherShards, stream, err)
	case shards != own:
		return fmt.Errorf("%w: the cluster %q has %d, and this node is to have %d; the number is chosen when a cluster is founded and stays, so leave out --shards, or name another cluster and prefix",
			ErrOtherShards, metadata[metaCluster], shards, own)
	case shards > 1 && metadata[metaSlots] != l.slots():
		return fmt.Errorf("%w: the stream %s has the slots %q, and shard %d of %d has %s", ErrOtherShards, stream, metadata[metaSlots], l.shard, shards, l.slots())
	}
	return nil
}

// ShardsOf returns how many shards the cluster has to which a stream with this metadata belongs.
func ShardsOf(metadata map[string]string) (int, error) {
	n, err := strconv.Atoi(cmp.Or(metadata[metaShards], "1"))
	if err == nil {
		err = job.ValidateShards(n)
	}
	if err != nil {
		return 0, fmt.Errorf("%s is %q: %w", metaShards, metadata[metaShards], err)
	}
	return n, nil
}
