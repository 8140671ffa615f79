package replication

import (
	"context"
	"errors"
)

// imprint identifies one message of the stream. It is the header of the frame, which contains the checksum of
// the whole message, and the length. Each publication of a frame carries its own time, so a copy that arrives
// late has another imprint. The zero value stands for a message that does not exist.
//
// It exists because an acknowledgement names a sequence only, and NATS that loses the end of a stream assigns
// the sequences again. Two imprints that are equal are the same publication; a comparison of whole messages
// would read as much and prove no more, since the checksum covers it.
type imprint struct {
	head [headerBytes]byte
	size int
}

// unread marks an imprint that must still be read from the stream.
var unread = imprint{size: -1}

func imprintOf(message []byte) (s imprint) {
	copy(s.head[:], message)
	s.size = len(message)
	return s
}

// standing returns the imprint of the message that is now in the stream at the cursor's sequence. It asks the
// stream's leader, because another server may still have a message that the stream has lost.
func (c *cursor) standing(ctx context.Context) (imprint, error) {
	if c.seq == 0 {
		return imprint{}, nil
	}
	message, err := c.stream.Stored(ctx, c.seq)
	switch {
	case errors.Is(err, errNoMessage):
		return imprint{}, nil
	case err != nil:
		return imprint{}, err
	}
	return imprintOf(message), nil
}

// stands reports whether the stream still has the message up to which the cursor has judged it. A stream loses messages at
// its end only, so what comes before that message is what it was when that message was judged.
func (c *cursor) stands(ctx context.Context) (bool, error) {
	if !c.isPlaced() {
		return false, nil
	}
	found, err := c.standing(ctx)
	return err == nil && found == c.imprint, err
}

// isPlaced reports whether the cursor knows the message at its place.
func (c *cursor) isPlaced() bool { return c.seq != 0 && c.imprint != unread && c.imprint != imprint{} }

// resume stays at the cursor's place if that and what was judged before it stand, and otherwise locates it anew.
func (c *cursor) resume(ctx context.Context) error {
	if !c.isPlaced() {
		return c.locate(ctx)
	}
	err := c.prove(ctx)
	if errors.Is(err, errRegrown) {
		return c.locate(ctx)
	}
	return err
}
