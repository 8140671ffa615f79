package transfer

import (
	"context"
	"fmt"
	"iter"
	"time"
)

// Source requests the pieces of a copy from the process that sends it. All fields are required, except From.
type Source struct {
	From string // name of that process, for the errors of Receive
	// Ask requests the piece of a file that begins at an offset, once, and verifies its checksum, see [Sum]. The sender
	// chooses the length of a piece.
	Ask func(ctx context.Context, file int, offset int64) ([]byte, error)
	// Tries is how often a piece is requested before the transfer fails, and Pause the time between two requests.
	// Together they should be long enough for a connection to come back.
	Tries int
	Pause time.Duration
}

// Pieces returns the content of a file of size bytes from an offset on, piece by piece. A piece is at least one byte and
// ends at the latest with the file. An error is the last one that is returned.
func (s *Source) Pieces(ctx context.Context, file int, offset, size int64) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		for offset < size {
			piece, err := s.piece(ctx, file, offset, size-offset)
			offset += int64(len(piece))
			if !yield(piece, err) || err != nil {
				return
			}
		}
	}
}

// piece requests a piece until it arrives, a bounded number of times. After the end of ctx it tries no more.
func (s *Source) piece(ctx context.Context, file int, offset, left int64) (piece []byte, err error) {
	for try := 1; ; try++ {
		piece, err = s.Ask(ctx, file, offset)
		if err == nil && (len(piece) == 0 || int64(len(piece)) > left) {
			err = fmt.Errorf("a piece of %d bytes arrived, and the file has %d more", len(piece), left)
		}
		if err == nil {
			return piece, nil
		}
		if try >= s.Tries || ctx.Err() != nil {
			return nil, err
		}
		select {
		case <-ctx.Done():
			return nil, err
		case <-time.After(s.Pause):
		}
	}
}
