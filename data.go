package carillon

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/carillon-io/carillon/datadir"
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
	markEvery    time.Duration
	fatal        func(error)
	lock         *os.File
	log          *wal.Log
	store        *snapshot.Store
	logger       *slog.Logger
	checkpoints  *datadir.Checkpoints // of the store that is open
	replaying    func(done, all uint64)

	// keepBehind is how many commits the log keeps that the checkpoint has: for nodes that lag.
	keepBehind uint64
}

// openData opens the directory and replays into the store what only the log has. A swap for a received
// store that was interrupted is finished first.
func openData(o Options, fatal func(error)) (_ *data, err error) {
	d := &data{dir: o.Dir, keepBehind: o.keepBehind(), segmentBytes: o.segmentBytes, markEvery: o.markEvery, fatal: fatal, logger: o.Logger, replaying: o.replaying()}
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
	if err := d.identity.keep(); err != nil {
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

// claim takes the directory for this process, and checks that it is the directory of this node. It writes
// nothing but the lock, because what the directory holds may still be refused.
func (d *data) claim(o Options) (err error) {
	if err := os.MkdirAll(o.Dir, 0o750); err != nil {
		return fmt.Errorf("make the data directory: %w", err)
	}
	if d.lock, err = lockDir(o.Dir); err != nil {
		return err
	}
	if err := checkNotRestoring(o.Dir); err != nil {
		return err
	}
	if d.identity, err = openIdentity(o.Dir, o); err != nil || o.clustered() {
		return err
	}
	return checkInstallation(o.Dir)
}

// openParts opens the log and the store.
func (d *data) openParts() error {
	identity := ""
	switch { // each is written when both parts have been made
	case d.identity.ClusterID != "":
		identity = identityFile
	case hasInstallation(d.dir):
		identity = installationFile
	}
	log, store, err := datadir.Open(d.dir, identity, d.logOptions(), snapshot.Options{Logger: d.logger, OnFatal: d.fatal})
	if err != nil {
		return err
	}
	d.log, d.store = log, store
	d.checkpoints = datadir.NewCheckpoints()
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
	o := wal.Options{Dir: filepath.Join(d.dir, logName), SegmentBytes: d.segmentBytes, Logger: d.logger}
	if d.store != nil { // else it is read first
		applied := d.applied()
		o.Applied = &applied
	}
	return o
}

// applied returns the position that the store is at.
func (d *data) applied() job.Position { return d.store.Applied() }

// parts are the log and the store for those who treat them as one.
func (d *data) parts() datadir.Parts {
	return datadir.Parts{Log: d.log, Store: d.store, Logger: d.logger, KeepBehind: d.keepBehind, Checkpoints: d.checkpoints, Replaying: d.replaying, MarkEvery: d.markEvery}
}

// replayUpTo brings the store to the commit lsn of the log, unless it is there or beyond.
func (d *data) replayUpTo(lsn uint64) error { return d.parts().Replay(lsn) }

// keep makes checkpoints until ctx ends, and gives the space of the log that they cover back.
func (d *data) keep(ctx context.Context, every time.Duration) error {
	return d.parts().Keep(ctx, every)
}

func (d *data) checkpoint(ctx context.Context) error { return d.parts().Checkpoint(ctx) }

// close leaves a checkpoint and gives the directory up.
func (d *data) close() error {
	err := d.parts().Close()
	if d.lock != nil {
		err = errors.Join(err, d.lock.Close())
	}
	return err
}

// ErrInUse is returned by Start for a data directory that another server has open.
var ErrInUse = datadir.ErrInUse

// lockDir takes the directory for this process.
func lockDir(dir string) (*os.File, error) {
	f, err := datadir.Lock(dir)
	if errors.Is(err, ErrInUse) {
		return nil, fmt.Errorf("%w; stop it, or choose another --data", err)
	}
	return f, err
}
