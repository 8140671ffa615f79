package wal

import (
	"fmt"
	"time"
)

// Append writes payload as the next commit, in the given epoch, and returns the commit's position once
// it is durable: its bytes are synced, and so is the directory if a new segment file appeared. The
// payload may be empty and has at most MaxPayload bytes; the log does not keep the slice.
//
// It returns ErrTooLarge, ErrEpoch, ErrNoSpace or ErrClosed if it has written nothing, or ErrPoisoned.
// After ErrPoisoned the commit's outcome is unknown. The process must open the log again; the commit is
// then in the log or it is not.
func (l *Log) Append(epoch uint64, payload []byte) (Position, error) {
	l.writing.Lock()
	defer l.writing.Unlock()
	if err := l.admit(epoch, payload); err != nil {
		return Position{}, fmt.Errorf("append: %w", err)
	}
	frame, pos := l.chain.extend(l.buf, epoch, payload)
	l.buf = frame
	rolled, err := l.persist(pos.LSN, frame)
	if err != nil {
		return Position{}, l.poison(fmt.Errorf("append LSN %d: %w", pos.LSN, err))
	}
	// Chain and state move only after the sync. A frame that is built on a commit which a crash can
	// remove would carry a watermark that is not true, and Open would take a torn tail for damage.
	l.chain.last = pos
	l.state.acknowledge(pos, entryBytes(len(frame)), rolled)
	return pos, nil
}

// admit returns an error for a commit that must not be written. It runs before any write, so its errors
// leave the log usable. The free space comes last, because that check uses up credit.
func (l *Log) admit(epoch uint64, payload []byte) error {
	if err := l.state.usable(); err != nil {
		return err
	}
	if len(payload) > MaxPayload {
		return fmt.Errorf("%w: %d bytes, at most %d", ErrTooLarge, len(payload), MaxPayload)
	}
	if last := l.chain.last.Epoch; epoch < last {
		return fmt.Errorf("%w: %d after %d", ErrEpoch, epoch, last)
	}
	return l.space.admit(entryBytes(headerBytes + len(payload)))
}

// persist makes one frame durable and reports whether a new segment has begun after it.
//
// It decides about that by the library's own rule: the entry that reaches the segment size is the last
// of its file. Both count the same bytes, because the library is opened on files whose size the survey
// has verified. If the rules differed, the library could begin a file whose name is never synced, and a
// crash would remove it together with acknowledged commits.
func (l *Log) persist(lsn LSN, frame []byte) (rolled bool, err error) {
	began := time.Now() // before the write, because a write that fills the segment syncs as well
	if err := l.journal.Write(lsn, frame); err != nil {
		return false, fmt.Errorf("write: %w", err)
	}
	rolled = l.state.tailBytes()+int64(entryBytes(len(frame))) >= int64(l.opts.SegmentBytes)
	if rolled {
		err = l.roll()
	} else if err = l.journal.Sync(); err != nil {
		err = fmt.Errorf("sync: %w", err)
	}
	if err == nil {
		l.meter.synced(began, frame)
	}
	return rolled, err
}

// roll completes the change to a new segment. The library has begun it: it has synced and closed the
// full file and created the next one. The new file name must be durable before the commit that filled
// the old file is acknowledged. Otherwise later commits would be synced into a file whose directory
// entry a crash can remove, and all of them would be lost together.
//
// The library remembers every segment since it was opened and keeps the last ones in memory. roll opens
// it again at each new segment, while that is still empty, and so bounds this memory.
func (l *Log) roll() error {
	if err := l.journal.Close(); err != nil {
		return fmt.Errorf("close segment: %w", err)
	}
	if err := l.opts.disk.syncDir(l.opts.Dir); err != nil {
		return fmt.Errorf("sync directory: %w", err)
	}
	j, err := l.opts.disk.journal(l.opts.Dir, l.opts.SegmentBytes)
	if err != nil {
		return fmt.Errorf("open segment: %w", err)
	}
	l.journal = j
	return nil
}

// tailBytes returns the size of the last segment, in bytes.
func (s *state) tailBytes() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.segments[len(s.segments)-1].bytes
}
