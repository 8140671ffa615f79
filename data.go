package carillon

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/snapshot"
	"github.com/carillon-io/carillon/wal"
)

// data is the data directory: a lock, the name of the node, and a log and a store that are level with
// one another.
type data struct {
	identity     *identity
	dir          string
	segmentBytes int
	fatal        func(error)
	lock         *os.File
	log          *wal.Log
	store        *snapshot.Store
	logger       *slog.Logger

	// keepBehind is how many commits the log keeps that the checkpoint has: for nodes that lag.
	keepBehind uint64
}

// openData opens the directory and replays into the store what only the log has. A swap for a received
// store that was interrupted is finished first.
func openData(o Options, fatal func(error)) (_ *data, err error) {
	d := &data{dir: o.Dir, keepBehind: o.keepBehind(), segmentBytes: o.segmentBytes, fatal: fatal, logger: o.Logger}
	defer func() {
		if err != nil {
			err = errors.Join(err, d.close())
		}
	}()
	if err := d.claim(o); err != nil {
		return nil, err
	}
	if err := finishJoin(o.Dir, o.Logger); err != nil {
		return nil, err
	}
	if err := d.openParts(); err != nil {
		return nil, err
	}
	return d, d.replayUpTo(d.sureLSN(o))
}

// sureLSN returns up to where the log is replayed before the other nodes were asked: the last commit of a
// node that led may be part of no other's log, because it died before it knew.
func (d *data) sureLSN(o Options) uint64 {
	last, applied := d.log.Last().LSN, d.store.Applied().LSN
	if !o.clustered() || last <= applied {
		return last
	}
	return max(applied, last-1)
}

// claim takes the directory for this process, and checks that it is the directory of this node.
func (d *data) claim(o Options) (err error) {
	if err := os.MkdirAll(o.Dir, 0o750); err != nil {
		return fmt.Errorf("make the data directory: %w", err)
	}
	if d.lock, err = lockDir(o.Dir); err != nil {
		return err
	}
	d.identity, err = openIdentity(o.Dir, o)
	return err
}

// openParts opens the log and the store.
func (d *data) openParts() (err error) {
	if err := d.openLog(); err != nil {
		return err
	}
	d.store, err = snapshot.Open(snapshot.Options{Dir: filepath.Join(d.dir, storeName), Logger: d.logger, OnFatal: d.fatal})
	if err != nil {
		return fmt.Errorf("open the store: %w", err)
	}
	return nil
}

func (d *data) openLog() error {
	log, err := wal.Open(d.logOptions())
	if err != nil {
		return fmt.Errorf("open the log: %w", err)
	}
	d.log = log
	return nil
}

func (d *data) logOptions() wal.Options {
	return wal.Options{Dir: filepath.Join(d.dir, logName), SegmentBytes: d.segmentBytes, Logger: d.logger}
}

// applied returns the position that the store is at.
func (d *data) applied() job.Position { return d.store.Applied() }

// replayUpTo applies to the store what the log has after the store's position, up to and with the commit
// lsn; nothing if the store is there or beyond. The store's position tells where it was at the last
// checkpoint; a log that does not continue there is refused, never guessed at. So is an lsn that the log
// does not have.
func (d *data) replayUpTo(lsn uint64) error {
	began, from := time.Now(), d.store.Applied()
	if err := d.log.CheckApplied(from); err != nil {
		return fmt.Errorf("the store and the log do not fit together: %w", err)
	}
	r, err := d.log.NewReader(from.LSN + 1)
	if err != nil {
		return fmt.Errorf("replay the log: %w", err)
	}
	defer func() { _ = r.Close() }()
	for d.store.Applied().LSN < lsn {
		f, err := r.Next()
		if errors.Is(err, io.EOF) {
			return fmt.Errorf("replay the log up to LSN %d: it ends at %d", lsn, d.log.Last().LSN)
		}
		if err == nil {
			err = d.store.Apply(f.Position, f.Payload)
		}
		if err != nil {
			return fmt.Errorf("replay the log: %w", err)
		}
	}
	if n := d.store.Applied().LSN - from.LSN; n > 0 {
		d.logger.Info("replayed the log", "commits", n, "took", time.Since(began).Round(time.Millisecond))
	}
	return nil
}

// logCommitsMax is how many commits make a checkpoint before its time: recovery replays about as many
// at the most.
const logCommitsMax = 50_000

// keep makes checkpoints until ctx ends, and gives the space of the log that they cover back.
func (d *data) keep(ctx context.Context, every time.Duration) error {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	last := time.Now()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		behind := d.store.Applied().LSN - d.store.Durable().LSN
		if time.Since(last) < every && behind < logCommitsMax {
			continue
		}
		last = time.Now()
		if err := d.checkpoint(ctx); err != nil && ctx.Err() == nil {
			return err
		}
	}
}

// checkpoint makes what is applied durable in the store, and then drops the log before it. The order
// is what a crash depends on: at any moment the store's durable position and the log overlap.
func (d *data) checkpoint(ctx context.Context) error {
	durable, err := d.store.Checkpoint(ctx)
	if err != nil {
		return fmt.Errorf("checkpoint: %w", err)
	}
	keep := durable.LSN + 1 - min(d.keepBehind, durable.LSN)
	if keep <= d.log.First() {
		return nil
	}
	if err := d.log.TruncateFront(keep); err != nil {
		return fmt.Errorf("truncate the log: %w", err)
	}
	return nil
}

// close leaves a checkpoint and gives the directory up.
func (d *data) close() error {
	var errs []error
	if d.store != nil {
		errs = append(errs, d.store.Close())
	}
	if d.log != nil {
		errs = append(errs, d.log.Close())
	}
	if d.lock != nil {
		errs = append(errs, d.lock.Close())
	}
	return errors.Join(errs...)
}
