package datadir

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/carillon-io/carillon/snapshot"
	"github.com/carillon-io/carillon/wal"
)

// Parts are a log and the store that it is applied to. The directory must be locked. Replay is for one
// caller before anything is appended; Keep and Checkpoint are for one goroutine beside the one that
// appends and applies.
type Parts struct {
	Log    *wal.Log
	Store  *snapshot.Store
	Logger *slog.Logger

	// KeepBehind is how many commits the log keeps that the checkpoint has: for nodes that lag.
	KeepBehind uint64
	// MarkEvery is how long Keep lets commits come before it notes in the log that they are durable; see
	// wal.Log.MarkDurable. 0 means 5 s. Longer spares two syncs each time; what is newer can be lost
	// unseen when the log's last file is damaged.
	MarkEvery time.Duration
	// Checkpoints counts checkpoints. Nil: nobody wants to know.
	Checkpoints *Checkpoints
	// Replaying is told now and then how many commits are replayed, of how many. Nil: nobody is.
	Replaying func(done, all uint64)
}

// replayingEvery is how many commits are replayed from one time to the next that somebody is told.
const replayingEvery = 64

// Replay applies to the store what the log has after the store's position, up to and with the commit
// lsn; nothing if the store is there or beyond. The store's position tells where it was at the last
// checkpoint; a log that does not continue there is refused, never guessed at. So is an lsn that the log
// does not have.
func (p Parts) Replay(lsn uint64) error {
	began, from := time.Now(), p.Store.Applied()
	if err := checkFit(p.Log, from); err != nil {
		return err
	}
	r, err := p.Log.NewReader(from.LSN + 1)
	if err != nil {
		return fmt.Errorf("replay the log: %w", err)
	}
	defer func() { _ = r.Close() }()
	for p.Store.Applied().LSN < lsn {
		f, err := r.Next()
		if errors.Is(err, io.EOF) {
			return fmt.Errorf("replay the log up to LSN %d: it ends at %d", lsn, p.Log.Last().LSN)
		}
		if err == nil {
			err = p.Store.Apply(f.Position, f.Payload)
		}
		if err != nil {
			return fmt.Errorf("replay the log: %w", err)
		}
		if done := f.Position.LSN - from.LSN; p.Replaying != nil && done%replayingEvery == 0 {
			p.Replaying(done, lsn-from.LSN)
		}
	}
	if n := p.Store.Applied().LSN - from.LSN; n > 0 {
		p.Logger.Info("replayed the log", "commits", n, "took", time.Since(began).Round(time.Millisecond))
	}
	return nil
}

// logCommitsMax is how many commits make a checkpoint before its time: recovery replays about as many
// at the most.
const logCommitsMax = 50_000

// markEveryDefault is Parts.MarkEvery if that is not set.
const markEveryDefault = 5 * time.Second

// marker decides when the log is to note what is durable.
type marker struct {
	mark     func() error
	every    time.Duration
	segments int       // that the log had had when it was last marked
	last     time.Time // when that was
}

// maybeMark notes what is durable if a segment has appeared since the last time, or if that is long ago.
// Nothing is written if no commit came. Segments is how many the log has had.
func (m *marker) maybeMark(now time.Time, segments int) error {
	if segments == m.segments && now.Sub(m.last) < m.every {
		return nil
	}
	m.segments, m.last = segments, now
	return m.mark()
}

// mark has the log note what is durable. Without room for that it goes on, and the next one does it.
func (p Parts) mark() error {
	err := p.Log.MarkDurable()
	if errors.Is(err, wal.ErrNotMarked) {
		p.Logger.Warn("the log could not note what is durable; if its end is lost, that may not be seen", "error", err)
		return nil
	}
	return err
}

// Keep makes checkpoints until ctx ends, and gives the space of the log that they cover back. Between them
// it has the log note what is durable.
func (p Parts) Keep(ctx context.Context, every time.Duration) error {
	tick := time.NewTicker(min(time.Second, cmp.Or(p.MarkEvery, time.Second)))
	defer tick.Stop()
	last := time.Now()
	m := &marker{mark: p.mark, every: cmp.Or(p.MarkEvery, markEveryDefault), segments: p.Log.Segments(), last: last}
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		if err := m.maybeMark(time.Now(), p.Log.Segments()); err != nil {
			return err
		}
		behind := p.Store.Applied().LSN - p.Store.Durable().LSN
		if time.Since(last) < every && behind < logCommitsMax {
			continue
		}
		last = time.Now()
		if err := p.Checkpoint(ctx); err != nil && ctx.Err() == nil {
			return err
		}
	}
}

// Checkpoint makes what is applied durable in the store, and then drops the log before it. The order
// is what a crash depends on: at any moment the store's durable position and the log overlap.
func (p Parts) Checkpoint(ctx context.Context) error {
	flushed := func() uint64 { return p.Store.Metrics().FlushedBytes }
	return p.Checkpoints.measure(ctx, flushed, p.checkpoint)
}

func (p Parts) checkpoint(ctx context.Context) error {
	durable, err := p.Store.Checkpoint(ctx)
	if err != nil {
		return fmt.Errorf("checkpoint: %w", err)
	}
	keep := durable.LSN + 1 - min(p.KeepBehind, durable.LSN)
	if keep > p.Log.First() {
		if err := p.Log.TruncateFront(keep); err != nil {
			return fmt.Errorf("truncate the log: %w", err)
		}
	}
	return p.mark() // nothing, if the truncation has done it
}

// Export copies the store into the directory to, which must not be there, and returns the position that the
// copy is at. That makes the store durable, so the log notes its end as it does at a checkpoint.
func (p Parts) Export(ctx context.Context, to string) (wal.Position, error) {
	at, err := p.Store.Export(ctx, to)
	if err == nil {
		err = p.mark()
	}
	return at, err
}

// Close leaves a checkpoint and closes both. What is nil was not opened.
func (p Parts) Close() error {
	var errs []error
	if p.Store != nil {
		errs = append(errs, p.Store.Close())
	}
	if p.Log != nil {
		errs = append(errs, p.Log.Close())
	}
	return errors.Join(errs...)
}
