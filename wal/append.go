package wal

import (
	"fmt"
	"time"
)

// Append writes payload as the next commit, in the given epoch, and returns its position when it is
// durable: its bytes are synced, and so is the directory if a segment file appeared. The payload is
// at most MaxPayload bytes, may be empty, and is not kept.
//
// It returns ErrTooLarge, ErrEpoch or ErrNoSpace, and has then written nothing; ErrClosed; or
// ErrPoisoned. After ErrPoisoned the commit's outcome is unknown and the log must be opened again;
// replaying it shows the outcome.
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
	l.chain.last = pos
	l.state.acknowledge(pos, entryBytes(len(frame)), rolled)
	return pos, nil
}

// admit refuses what must not be written, before anything is.
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

// persist makes one frame durable. It reports whether a new segment has begun after it.
func (l *Log) persist(lsn LSN, frame []byte) (rolled bool, err error) {
	began := time.Now() // before the write, which syncs too when it fills the segment
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

// roll completes the change to a new segment, which the library has begun: it has synced and left
// the full file and created the next. The new name must be durable before the commit that filled
// the old file is acknowledged; otherwise the next commits, each synced into a file that no
// directory names, could vanish together.
//
// The library remembers every segment it has ever had, and keeps the last ones in memory. Opening
// it again at each new segment, which is empty, bounds that.
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

func (s *state) tailBytes() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.segments[len(s.segments)-1].bytes
}
