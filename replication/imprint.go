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
func (c *cursor) standing(ctx context.Context) (imprint, error) { return c.stored(ctx, c.seq) }

// stored returns the imprint of a message of the stream, as standing does. It may be called beside other methods of the
// cursor.
func (c *cursor) stored(ctx context.Context, seq uint64) (imprint, error) {
	if seq == 0 {
		return imprint{}, nil
	}
	message, err := c.stream.Stored(ctx, seq)
	switch {
	case errors.Is(err, errNoMessage):
		return imprint{}, nil
	case err != nil:
		return imprint{}, err
	}
	return imprintOf(message), nil
}

// stands reports whether the stream still has the message up to which the cursor has judged it. A stream loses messages at
// its end only, so what comes before that message is what it was, too, and the place needs not be located.
func (c *cursor) stands(ctx context.Context) (bool, error) {
	if c.seq == 0 || c.imprint == unread || c.imprint == (imprint{}) {
		return false, nil
	}
	found, err := c.standing(ctx)
	return err == nil && found == c.imprint, err
}

// resume stays at the cursor's place if that stands, and otherwise locates it anew.
func (c *cursor) resume(ctx context.Context) error {
	stands, err := c.stands(ctx)
	if err != nil || stands {
		return err
	}
	return c.locate(ctx)
}
