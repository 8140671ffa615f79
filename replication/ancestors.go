package replication

import (
	"encoding/binary"

	"github.com/carillon-io/carillon/job"
)

// The log of a node that received a checkpoint begins there. If the stream loses its end, as where NATS goes back in a power
// failure, it may end before that place, and then nothing in the log shows that what is left of the stream is a part of it. So
// the checkpoint comes with its ancestors: the positions of the commits before it. They prove it, and take the node less room
// than the commits would.

const (
	// ancestorsMost bounds the ancestors of a checkpoint. NATS can lose two minutes; a shard under load makes about twenty
	// commits a second, and up to a few hundred while jobs are registered in bulk.
	ancestorsMost = 4096
	ancestorBytes = 24 // an epoch, and a hash
)

// ancestors are positions of consecutive commits as an offer carries them: of each the epoch, little-endian, and the hash. The
// last one is that of the commit before the position of the offer.
type ancestors []byte

// ancestorsOf encodes positions of consecutive commits.
func ancestorsOf(list []job.Position) ancestors {
	b := make(ancestors, 0, len(list)*ancestorBytes)
	for _, at := range list {
		b = append(binary.LittleEndian.AppendUint64(b, at.Epoch), at.Hash[:]...)
	}
	return b
}

// before returns the positions, where the offer is that of an LSN.
func (a ancestors) before(lsn uint64) (list []job.Position) {
	lsn -= uint64(len(a) / ancestorBytes)
	for ; len(a) >= ancestorBytes; a = a[ancestorBytes:] {
		at := job.Position{LSN: lsn, Epoch: binary.LittleEndian.Uint64(a)}
		copy(at.Hash[:], a[8:])
		list = append(list, at)
		lsn++
	}
	return list
}
