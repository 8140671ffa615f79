package wal

import (
	"crypto/sha256"
	"hash"

	"github.com/carillon-io/carillon/job"
)

// LSN (log sequence number) numbers the commits of a log: 1, 2, 3 …; 0 is the place before the first. No
// number is skipped or used twice in one history, so the distance of two LSNs is a number of commits.
type LSN = uint64

// Hash is the truncated SHA-256 of a frame's identity: its header up to and including the previous hash,
// and its payload. 128 bits make an accidental collision practically impossible and cost 16 bytes a
// frame.
type Hash = [16]byte

// Position is a place in the log: LSN, epoch and hash of the last commit before it. The zero value is
// the beginning of a log. It is an alias of the type in package job, so that the scheduler, the store
// and the log share one type without importing one another.
type Position = job.Position

// Next returns the position of a commit of payload in epoch that follows prev. The result is the same
// for every log. A node uses it to name a commit before it writes it, and to check a commit that another
// node has named.
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

// hasher computes the hashes of frames without allocating for each. It keeps state between its calls, so
// each chain has its own and one goroutine uses it at a time.
type hasher struct {
	sha hash.Hash
	out [sha256.Size]byte
}

func newHasher() *hasher { return &hasher{sha: sha256.New()} }

// sum returns the hash of a frame with this header and payload. It excludes what belongs to one log only
// (log id, durable watermark, checksum), so that a commit has the same hash on every node.
func (h *hasher) sum(head, payload []byte) Hash {
	h.sha.Reset()
	h.sha.Write(head[:identityBytes])
	h.sha.Write(payload)
	return Hash(h.sha.Sum(h.out[:0])[:len(Hash{})])
}
