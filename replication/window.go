package replication

import "context"

// window reads the messages of a stream some at a time, for a reader that goes through them in either direction. Each
// message costs a request, and a takeover, which waits for them, needs several dozen. Whoever does not ask for the next
// message of its direction, but for one again, gets it from the stream, which may have lost its end and grown again
// since. The zero value with a cursor is ready. It is for one goroutine.
type window struct {
	*cursor
	first, last uint64 // sequences beyond these are not read ahead
	back        bool   // the reader goes towards the beginning

	from     uint64 // sequence of messages[0]
	messages [][]byte
	next     uint64 // sequence that the reader asks for next, unless it begins anew
}

// get does what [cursor.get] does, and reads ahead.
func (w *window) get(ctx context.Context, seq uint64) ([]byte, error) {
	if seq != w.next || seq < w.from || seq-w.from >= uint64(len(w.messages)) {
		if err := w.read(ctx, seq); err != nil {
			return nil, err
		}
	}
	if w.next = seq + 1; w.back {
		w.next = seq - 1
	}
	if message := w.messages[seq-w.from]; message != nil {
		return message, nil
	}
	return w.cursor.get(ctx, seq) // the server that answered may be behind
}

// read reads the message of a sequence and those that the reader will ask for next.
func (w *window) read(ctx context.Context, seq uint64) (err error) {
	from, to := seq, seq
	if w.back {
		from = max(min(w.first, seq), seq-min(seq, rangeMost-1))
	} else {
		to = min(max(w.last, seq), seq+rangeMost-1)
	}
	w.messages, err = w.stream.GetRange(ctx, from, to)
	w.from = from
	return err
}
