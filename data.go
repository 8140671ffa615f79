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

	"github.com/carillon-io/carillon/snapshot"
	"github.com/carillon-io/carillon/wal"
)

// data is the data directory: a lock, a log and a store that are level with one another.
type data struct {
	lock   *os.File
	log    *wal.Log
	store  *snapshot.Store
	logger *slog.Logger
}

// openData opens the directory and replays into the store what only the log has.
func openData(o Options, fatal func(error)) (_ *data, err error) {
	d := &data{logger: o.Logger}
	defer func() {
		if err != nil {
			err = errors.Join(err, d.close())
		}
	}()
	if err := os.MkdirAll(o.Dir, 0o750); err != nil {
		return nil, fmt.Errorf("make the data directory: %w", err)
	}
	if d.lock, err = lockDir(o.Dir); err != nil {
		return nil, err
	}
	if d.log, err = wal.Open(wal.Options{Dir: filepath.Join(o.Dir, "wal"), SegmentBytes: o.segmentBytes, Logger: o.Logger}); err != nil {
		return nil, fmt.Errorf("open the log: %w", err)
	}
	d.store, err = snapshot.Open(snapshot.Options{Dir: filepath.Join(o.Dir, "store"), Logger: o.Logger, OnFatal: fatal})
	if err != nil {
		return nil, fmt.Errorf("open the store: %w", err)
	}
	return d, d.replay()
}

// replay brings the store level with the log. The store's position tells where it was at the last
// checkpoint; a log that does not continue there is refused, never guessed at.
func (d *data) replay() error {
	began, from := time.Now(), d.store.Applied()
	if err := d.log.CheckApplied(from); err != nil {
		return fmt.Errorf("the store and the log do not fit together: %w", err)
	}
	r, err := d.log.NewReader(from.LSN + 1)
	if err != nil {
		return fmt.Errorf("replay the log: %w", err)
	}
	defer func() { _ = r.Close() }()
	for {
		f, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
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
		behind := d.store.Applied().LSN - d.log.First() + 1
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
	if durable.LSN < d.log.First() {
		return nil
	}
	if err := d.log.TruncateFront(durable.LSN + 1); err != nil {
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
