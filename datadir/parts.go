package datadir

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/snapshot"
	"github.com/carillon-io/carillon/wal"
)

// Parts are a log and the store to which it is applied. The caller holds the directory's lock. Replay is called once,
// before the first append. Keep and Checkpoint are called by one goroutine, while another one appends and applies. It
// is a value: copies share the log and the store.
type Parts struct {
	Log    *wal.Log
	Store  *snapshot.Store
	Logger *slog.Logger

	// KeepBehind is the number of commits before a checkpoint that the log keeps for standbys that lag. 0 keeps none.
	// More costs disk, about the size of that many commits; fewer make a standby that was away longer receive a whole
	// checkpoint instead of the commits that it missed.
	KeepBehind uint64
	// MarkEvery is the interval at which Keep calls wal.Log.MarkDurable while commits arrive. 0 means 5 s.
	// Each call costs two syncs. The loss of commits that are newer than the last call can go undetected
	// if the log's last file is damaged, so a longer interval leaves more of them.
	MarkEvery time.Duration
	// Checkpoints counts checkpoints. Nil counts nothing.
	Checkpoints *Checkpoints
	// Replaying is called from time to time during Replay with the number of commits replayed and the
	// number of all commits to replay. May be nil.
	Replaying func(done, all uint64)
}

// replayingEvery is the number of commits between two calls of Parts.Replaying. Often enough for a progress display,
// and rare enough that the calls cost nothing beside the commits.
const replayingEvery = 64

// Replay applies to the store the commits of the log after the store's position, up to and including lsn. It does
// nothing if the store has lsn already. It returns an error if the log does not continue at the store's position, if
// the log does not have lsn, or if a commit has rows of a newer release ([job.ErrNewerRows]). A commit is checked for
// newer rows before it is applied, so that an older release stops at it rather than store rows that it misreads. After
// an error the store has a prefix of the commits, from which the next start continues.
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
			err = job.CheckRows(f.Payload)
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

// logCommitsMax is the number of commits after which Keep makes a checkpoint before its time. It bounds the commits
// that recovery replays. At a larger number a restart after heavy load takes longer; at a smaller one checkpoints
// follow each other under that load and compete with the commits for the disk.
const logCommitsMax = 50_000

// markEveryDefault is the default of Parts.MarkEvery. The time bounds what damage can hide, at the cost of two syncs
// each time.
const markEveryDefault = 5 * time.Second

// marker decides when to call Log.MarkDurable. It is for one goroutine. A new segment calls for a mark at once,
// because only a mark lets a later start notice that a whole file is missing.
type marker struct {
	mark     func() error
	every    time.Duration
	segments int       // Log.Segments at the last call
	last     time.Time // when the last call was
}

// maybeMark calls MarkDurable if a segment has been created since the last call, or if the last call was
// MarkEvery ago. segments is Log.Segments. If no commit came meanwhile, MarkDurable writes nothing.
func (m *marker) maybeMark(now time.Time, segments int) error {
	if segments == m.segments && now.Sub(m.last) < m.every {
		return nil
	}
	m.segments, m.last = segments, now
	return m.mark()
}

// mark calls MarkDurable. If the disk has no room for it, mark logs a warning and returns nil; the next call tries
// again. Any other failure has poisoned the log and is returned.
func (p Parts) mark() error {
	err := p.Log.MarkDurable()
	if errors.Is(err, wal.ErrNotMarked) {
		p.Logger.Warn("the log could not record up to where it is durable; until it can, the loss of its end may go undetected", "error", err)
		return nil
	}
	return err
}

// Keep makes a checkpoint at each interval every until ctx ends, and truncates the log to what the checkpoint does not
// cover. Between checkpoints it calls MarkDurable. It wakes at least once a second, so that a burst of commits is
// noticed soon. A failed checkpoint ends it, since a store that cannot be made durable would let the log grow without
// bound; an end of ctx is no error.
func (p Parts) Keep(ctx context.Context, every time.Duration) error {
	period := min(time.Second, cmp.Or(p.MarkEvery, time.Second))
	tick := time.NewTimer(untilLook(time.Now(), period))
	defer tick.Stop()
	last := time.Now()
	m := &marker{mark: p.mark, every: cmp.Or(p.MarkEvery, markEveryDefault), segments: p.Log.Segments(), last: last}
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
			tick.Reset(untilLook(time.Now(), period))
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

// untilLook returns the time until the next look of Keep. All shards of a process look at the same instants, since an idle
// process then wakes once for all of them. The instants are in the middle of a period: most jobs are due at whole seconds.
func untilLook(now time.Time, period time.Duration) time.Duration {
	return period - time.Duration(now.Add(period/2).UnixNano())%period
}

// Checkpoint makes the applied commits durable in the store, and then truncates the log before them. In
// this order the log always continues at or before the store's durable position, so a crash at any point
// loses nothing.
func (p Parts) Checkpoint(ctx context.Context) error {
	flushed := func() uint64 { return p.Store.Metrics().FlushedBytes }
	return p.Checkpoints.measure(ctx, flushed, p.checkpoint)
}

// The truncation keeps KeepBehind commits before the durable one, and never moves the start of the log back.
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
	return p.mark() // writes nothing if the truncation has recorded the same
}

// Export copies the store into the directory to, which must not exist, and returns the position of the copy. This
// flushes the store, so Export also calls MarkDurable, as a checkpoint does. Appends and applies go on meanwhile.
// After an error the caller removes the directory.
func (p Parts) Export(ctx context.Context, to string) (wal.Position, error) {
	at, err := p.Store.Export(ctx, to)
	if err == nil {
		err = p.mark()
	}
	return at, err
}

// Close flushes the store and closes both. Either may be nil if it was not opened. The store is first, because it
// flushes at its end, and the log records what is durable when it is closed.
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
