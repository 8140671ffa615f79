package wal

// chain checks and builds the frames of one log in order: each frame must continue the one before it.
// Writer, survey and readers use the same type, so they cannot disagree about what a valid log is. It is
// not safe for concurrent use.
//
// Invariant: last is the position of the newest frame that was admitted, or that the caller of extend
// has made durable; before the first one it is the log's base.
type chain struct {
	logID uint64
	last  Position
	hash  *hasher
}

// newChain returns a chain that expects the first frame after b.
func newChain(b base) *chain {
	return &chain{logID: b.logID, last: b.before, hash: newHasher()}
}

// admit decodes one whole frame and makes it the last of the chain. It hashes the payload, so its cost grows
// with the size. The payload of the result is a part of raw. An error is a flaw or ErrVersion, and leaves the
// chain unchanged.
func (c *chain) admit(raw []byte) (Frame, error) {
	h, err := decode(raw)
	if err != nil {
		return Frame{}, err
	}
	if err := c.link(&h); err != nil {
		return Frame{}, err
	}
	payload := raw[headerBytes:]
	c.last = Position{LSN: h.lsn, Epoch: h.epoch, Hash: c.hash.sum(raw, payload)}
	return Frame{Position: c.last, Prev: h.prev, Durable: h.durable, Payload: payload}, nil
}

// link returns a flaw unless h continues the chain.
func (c *chain) link(h *header) error {
	switch {
	case h.logID != c.logID:
		return misplaced("the frame belongs to another log")
	case h.lsn != c.last.LSN+1:
		return misplaced("the frame has LSN %d, and %d belongs here", h.lsn, c.last.LSN+1)
	case h.epoch < c.last.Epoch:
		return misplaced("the epoch goes back from %d to %d", c.last.Epoch, h.epoch)
	case h.prev != c.last.Hash:
		return misplaced("the frame does not continue the one before it: previous hash %x, want %x",
			h.prev, c.last.Hash)
	}
	return nil
}

// extend builds the frame that continues the chain with payload, in dst's memory, and returns it with
// its position. It does not change the chain: the caller sets last once the frame is durable, which it
// may never be.
func (c *chain) extend(dst []byte, epoch uint64, payload []byte) ([]byte, Position) {
	h := header{
		version: frameVersion,
		kind:    kindCommit,
		lsn:     c.last.LSN + 1,
		epoch:   epoch,
		prev:    c.last.Hash,
		logID:   c.logID,
		// Append syncs each commit before it builds the next one.
		durable: c.last.LSN,
	}
	dst = appendFrame(dst[:0], h, payload)
	return dst, Position{LSN: h.lsn, Epoch: epoch, Hash: c.hash.sum(dst, payload)}
}
