package server

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

// data is an open data directory: its lock, the name of the node, and a log and a store at the same position.
type data struct {
	identity     currentIdentity
	dir          string
	segmentBytes int
	markEvery    time.Duration
	fatal        func(error)
	lock         *os.File
	log          *wal.Log
	store        *snapshot.Store
	logger       *slog.Logger
	checkpoints  *datadir.Checkpoints // of the open store
	replaying    func(done, all uint64)

	// keepBehind is the number of commits that the log keeps although the checkpoint has them: for nodes that
	// lag.
	keepBehind uint64
}

// openData opens the directory and replays into the store what only the log has. It first completes a swap for
// a received store that was interrupted.
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

// sureLSN returns the LSN up to which the log may be replayed before the other nodes were asked. The last
// commit of a node that led may be in no other node's log, because the node died before it was confirmed.
// Without a cluster all commits are sure.
func (d *data) sureLSN(o Options) uint64 {
	last, applied, id := d.log.Last().LSN, d.store.Applied().LSN, d.identity.get()
	if !o.clustered() || last <= applied || o.anyIdentity || id.isOwn() || id.State == stateFounder {
		return last
	}
	return max(applied, last-1)
}

// claim locks the directory for this process, and checks that it is this node's. It writes nothing but the
// lock, because the directory may still be refused.
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
	if d.identity.id, err = openIdentity(o.Dir, o); err != nil || o.clustered() {
		return err
	}
	return checkInstallation(o.Dir)
}

// openParts opens the log and the store.
func (d *data) openParts() error {
	identity := ""
	switch { // each of these files is written only when both parts exist
	case d.identity.get().ClusterID != "":
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
	if d.store != nil { // otherwise datadir.Open reads it from the store
		applied := d.applied()
		o.Applied = &applied
	}
	return o
}

// applied returns the position of the store.
func (d *data) applied() job.Position { return d.store.Applied() }

// parts returns the log and the store as one value for package datadir.
func (d *data) parts() datadir.Parts {
	return datadir.Parts{Log: d.log, Store: d.store, Logger: d.logger, KeepBehind: d.keepBehind, Checkpoints: d.checkpoints, Replaying: d.replaying, MarkEvery: d.markEvery}
}

// replayUpTo applies the log to the store up to the commit lsn, unless the store is there or beyond.
func (d *data) replayUpTo(lsn uint64) error { return d.parts().Replay(lsn) }

// keep makes checkpoints until ctx ends, and truncates the log that they cover.
func (d *data) keep(ctx context.Context, every time.Duration) error {
	return d.parts().Keep(ctx, every)
}

func (d *data) checkpoint(ctx context.Context) error { return d.parts().Checkpoint(ctx) }

// close leaves a checkpoint and unlocks the directory.
func (d *data) close() error {
	err := d.parts().Close()
	if d.lock != nil {
		err = errors.Join(err, d.lock.Close())
	}
	return err
}

// ErrInUse is returned by [Start] for a data directory that another server has open.
var ErrInUse = datadir.ErrInUse

// lockDir locks the directory for this process.
func lockDir(dir string) (*os.File, error) {
	f, err := datadir.Lock(dir)
	if errors.Is(err, ErrInUse) {
		return nil, fmt.Errorf("%w; stop it, or choose another --data", err)
	}
	return f, err
}
