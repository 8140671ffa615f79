package wal

import (
	"crypto/sha256"
	"hash"

	"github.com/carillon-io/carillon/job"
)

// LSN numbers the commits of a log: 1, 2, 3 …; 0 is the place before the first.
type LSN = uint64

// Hash is the truncated SHA-256 of a frame's identity: its header up to the previous hash, and its
// payload. 128 bits leave an accidental collision out of the question and cost 16 bytes a frame.
type Hash = [16]byte

// Position is a place in the log: LSN, epoch and hash of the last commit before it. The zero value
// is the beginning of a log. It is the job package's, so that a Log fits where the scheduler and
// the store speak of positions.
type Position = job.Position

// Next returns the position that a commit of payload in epoch takes after prev, in every log. It is
// pure: it lets a node name a commit before it is written, and check one that another node has
// named.
func Next(prev Position, epoch uint64, payload []byte) Position {
	h := header{
		version: frameVersion,
		kind:    kindCommit,
		length:  uint32(len(payload)),
		lsn:     prev.LSN + 1,
		epoch:   epoch,
		prev:    prev.Hash,
	}
	var b [headerBytes]byte
	h.put(b[:])
	d := newHasher()
	return Position{LSN: h.lsn, Epoch: epoch, Hash: d.sum(b[:], payload)}
}

// hasher computes the hashes of frames without allocating for each.
type hasher struct {
	sha hash.Hash
	out [sha256.Size]byte
}

func newHasher() *hasher { return &hasher{sha: sha256.New()} }

// sum returns the hash of a frame with this header and payload. What belongs to one log only (log
// id, durable watermark, checksum) is left out, so that the same commit has the same hash
// everywhere.
func (h *hasher) sum(head, payload []byte) Hash {
	h.sha.Reset()
	h.sha.Write(head[:identityBytes])
	h.sha.Write(payload)
	return Hash(h.sha.Sum(h.out[:0])[:len(Hash{})])
}
