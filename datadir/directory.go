package datadir

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/snapshot"
	"github.com/carillon-io/carillon/wal"
)

// Directory is an open data directory: its lock, the name of the node, and a log and a store at the same position. Use
// [OpenDirectory] or [OpenWitness]. The identity may be read and changed at any time. Everything else must be kept
// away while CutTail or Adopt runs, since they replace the log, and adopt the store too.
type Directory struct {
	// The identity has its own lock, because requests for the status read it while a node joins.
	held         currentIdentity
	dir          string
	segmentBytes int
	markEvery    time.Duration
	// called when the store cannot be written any more; see Options.OnFatal
	fatal func(error)
	// The kernel's lock is bound to this open file: closing it is what unlocks the directory. nil until claim has
	// taken it.
	lock *os.File
	// The log and the store are at the same position after OpenDirectory, apart from commits that [Directory.sureLSN]
	// keeps back. Both are nil in a witness.
	log    *wal.Log
	store  *snapshot.Store
	logger *slog.Logger
	// A new store gets a new one, since its time of the last success begins anew.
	checkpoints *Checkpoints // of the open store
	replaying   func(done, all uint64)

	// keepBehind is the number of commits that the log keeps although the checkpoint has them: for nodes that
	// lag.
	keepBehind uint64
}

// OpenDirectory opens the directory and replays into the store what only the log has. It first completes a swap for a
// received store that was interrupted. The order of the steps matters: the lock before anything is read, an unfinished
// swap before the parts are opened, and the identity is written only once the parts are open, so that a directory that
// is refused for its contents keeps the identity that it had. After an error the directory is unlocked again.
func OpenDirectory(o Options) (_ *Directory, err error) {
	d := &Directory{dir: o.Dir, keepBehind: o.KeepBehind, segmentBytes: o.SegmentBytes, markEvery: o.MarkEvery, fatal: o.OnFatal, logger: o.Logger, replaying: o.Replaying}
	defer func() {
		if err != nil {
			err = errors.Join(err, d.Close())
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
	if err := d.held.keep(); err != nil {
		return nil, err
	}
	return d, d.replayUpTo(d.sureLSN(o))
}

// OpenWitness locks the directory of a witness, which has neither a log nor a store, and keeps its name. The witness
// has an identity, because JetStream identifies it by its name, too.
func OpenWitness(o Options) (_ *Directory, err error) {
	d := &Directory{dir: o.Dir, logger: o.Logger}
	if err = d.claim(o); err == nil {
		err = d.held.keep()
	}
	if err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return d, nil
}

// Identity returns which node of which cluster the directory is. Safe for concurrent use, as are the methods that change
// it.
func (d *Directory) Identity() Identity { return d.held.get() }

// MeetCluster keeps the id of the cluster that the node has met; discard says that the data will be replaced by that
// cluster's. It returns an error if the directory belongs to another cluster. It is durable when it returns, and
// changes nothing if it is repeated. The caller calls it before it commits or adopts anything of the cluster: a crash
// in between must not leave a directory with data of a cluster that it does not name.
func (d *Directory) MeetCluster(clusterID string, discard bool) error {
	return d.held.adopt(clusterID, discard)
}

// MarkJoined keeps that the data belongs to the cluster now. It must follow [Directory.Adopt]: in the other order a
// crash would leave the old data under the name of the cluster.
func (d *Directory) MarkJoined() error { return d.held.markJoined() }

// MetLeader keeps that the servers of a witness have had a leader: from now on the cluster's name stays.
func (d *Directory) MetLeader() error { return d.held.metLeader() }

// Dir returns the path of the directory.
func (d *Directory) Dir() string { return d.dir }

// Log returns the open log; nil in a witness. CutTail and Adopt replace it.
func (d *Directory) Log() *wal.Log { return d.log }

// Store returns the open store; nil in a witness. Adopt replaces it.
func (d *Directory) Store() *snapshot.Store { return d.store }

// Checkpoints returns the counts of the checkpoints of the open store.
func (d *Directory) Checkpoints() *Checkpoints { return d.checkpoints }

// Incoming returns the path below which a node that joins puts the store that it receives, as the directory "store".
func (d *Directory) Incoming() string { return filepath.Join(d.dir, incomingName) }

// Last returns the position of the log.
func (d *Directory) Last() job.Position { return d.log.Last() }

// Find returns the position of a commit that the log has, and reports whether it has it. Replication asks it to find
// the last commit that this log and the cluster's have in common.
func (d *Directory) Find(lsn uint64) (job.Position, bool) {
	if lsn > d.log.Last().LSN || lsn < d.log.Base().LSN {
		return job.Position{}, false
	}
	at, err := d.log.PositionOf(lsn)
	return at, err == nil
}

// sureLSN returns the LSN up to which the log may be replayed before the other nodes were asked. The last commit of a
// node that led may be in no other node's log, because the node died before it was confirmed. Without a cluster all
// commits are sure. The store cannot undo a commit, while the log can be cut ([Directory.CutTail]), so the doubtful
// commit stays out of the store until the cluster has answered.
func (d *Directory) sureLSN(o Options) uint64 {
	last, applied, id := d.log.Last().LSN, d.store.Applied().LSN, d.held.get()
	if !o.clustered() || last <= applied || o.anyIdentity || id.IsOwn() || id.State == StateFounder {
		return last
	}
	return max(applied, last-1)
}

// claim locks the directory for this process, and checks that it is this node's. It writes nothing but the
// lock, because the directory may still be refused.
func (d *Directory) claim(o Options) (err error) {
	if err := os.MkdirAll(o.Dir, 0o750); err != nil {
		return fmt.Errorf("make the data directory: %w", err)
	}
	if d.lock, err = lockDir(o.Dir); err != nil {
		return err
	}
	if err := checkNotRestoring(o.Dir); err != nil {
		return err
	}
	if d.held.id, err = openIdentity(o.Dir, o); err != nil || o.clustered() {
		return err
	}
	return checkInstallation(o.Dir)
}

// openParts opens the log and the store.
func (d *Directory) openParts() error {
	identity := ""
	switch { // each of these files is written only when both parts exist
	case d.held.get().ClusterID != "":
		identity = NodeName
	case hasInstallation(d.dir):
		identity = InstallationName
	}
	log, store, err := Open(d.dir, identity, d.logOptions(), snapshot.Options{Logger: d.logger, OnFatal: d.fatal})
	if err != nil {
		return err
	}
	d.log, d.store = log, store
	d.checkpoints = NewCheckpoints()
	return nil
}

func (d *Directory) openLog() error {
	log, err := wal.Open(d.logOptions())
	if err != nil {
		return fmt.Errorf("open the log: %w", err)
	}
	d.log = log
	return nil
}

// A log that is opened beside an open store, after a cut, is verified against that store's position.
func (d *Directory) logOptions() wal.Options {
	o := wal.Options{Dir: filepath.Join(d.dir, LogName), SegmentBytes: d.segmentBytes, Logger: d.logger}
	if d.store != nil { // otherwise datadir.Open reads it from the store
		applied := d.Applied()
		o.Applied = &applied
	}
	return o
}

// Applied returns the position of the store.
func (d *Directory) Applied() job.Position { return d.store.Applied() }

// Parts returns the log and the store as one value for package datadir.
func (d *Directory) Parts() Parts {
	return Parts{Log: d.log, Store: d.store, Logger: d.logger, KeepBehind: d.keepBehind, Checkpoints: d.checkpoints, Replaying: d.replaying, MarkEvery: d.markEvery}
}

// replayUpTo applies the log to the store up to the commit lsn, unless the store is there or beyond.
func (d *Directory) replayUpTo(lsn uint64) error { return d.Parts().Replay(lsn) }

// Keep makes checkpoints until ctx ends, and truncates the log that they cover. It blocks. The caller ends it, and
// waits until it has returned, before CutTail or Adopt, because it uses the log and the store that they replace.
func (d *Directory) Keep(ctx context.Context, every time.Duration) error {
	return d.Parts().Keep(ctx, every)
}

func (d *Directory) Checkpoint(ctx context.Context) error { return d.Parts().Checkpoint(ctx) }

// Close leaves a checkpoint and unlocks the directory. It works after a failed open, too: parts that were not opened
// are left out. The lock is released last, so that no other process can open a directory that is still being written.
func (d *Directory) Close() error {
	err := d.Parts().Close()
	if d.lock != nil {
		err = errors.Join(err, d.lock.Close())
	}
	return err
}

// lockDir locks the directory for this process.
func lockDir(dir string) (*os.File, error) {
	f, err := Lock(dir)
	if errors.Is(err, ErrInUse) {
		return nil, fmt.Errorf("%w; stop it, or choose another --data", err)
	}
	return f, err
}
