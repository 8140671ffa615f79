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

// Shard is the open data of one engine: a log and a store at the same position. Use [Directory.OpenShard]. Everything
// else must be kept away while CutTail or Adopt runs, since they replace the log, and Adopt the store too.
type Shard struct {
	directory *Directory
	number    uint32
	dir       string
	opts      ShardOptions
	// The log and the store are at the same position after OpenShard, apart from commits that [Shard.sureLSN] keeps
	// back.
	log       *wal.Log
	store     *snapshot.Store
	logger    *slog.Logger
	ancestors *ancestors // of the base of the log, as it was opened
	// A new store gets a new one, since its time of the last success begins anew.
	checkpoints *Checkpoints // of the open store
}

// OpenShard opens the log and the store of a shard, which it creates if the directory has never had that shard, and
// replays into the store what only the log has. It first completes a swap for a received store that was interrupted,
// because that must precede the opening of the parts. It
// returns an error if the directory is that of another shard. Different shards may be opened concurrently; a shard that is open
// is refused. It returns a *GoneError, or an error of package wal or snapshot.
func (d *Directory) OpenShard(number uint32, o ShardOptions) (*Shard, error) {
	if number >= shardsMost {
		return nil, fmt.Errorf("shard %d: a directory has at most the shards 0 to %d", number, shardsMost-1)
	}
	s := &Shard{directory: d, number: number, dir: ShardDir(d.dir, number), opts: o, logger: d.logger}
	if err := s.open(); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

func (s *Shard) open() error {
	err := s.directory.finishDrop(s.number)
	if err == nil {
		err = refusal(checkEntries(s.dir, shardEntries, reader{s.directory.clustered, int64(s.number)}))
	}
	if err == nil {
		err = finishJoin(s.dir, s.logger)
	}
	isNew := !exists(filepath.Join(s.dir, LogName)) && !exists(filepath.Join(s.dir, StoreName))
	if err == nil {
		err = s.openParts()
	}
	if err == nil && isNew {
		err = s.NoteNumber()
	}
	if err == nil {
		err = s.directory.held.keep()
	}
	if err != nil {
		return err
	}
	return s.replayUpTo(s.sureLSN())
}

// Directory returns the directory that the shard is in.
func (s *Shard) Directory() *Directory { return s.directory }

// Dir returns the path of the shard's own directory.
func (s *Shard) Dir() string { return s.dir }

// Log returns the open log. CutTail and Adopt replace it.
func (s *Shard) Log() *wal.Log { return s.log }

// Store returns the open store. Adopt replaces it.
func (s *Shard) Store() *snapshot.Store { return s.store }

// Checkpoints returns the counts of the checkpoints of the open store.
func (s *Shard) Checkpoints() *Checkpoints { return s.checkpoints }

// Incoming returns the path below which a node that joins puts the store that it receives, as the directory "store".
func (s *Shard) Incoming() string { return filepath.Join(s.dir, incomingName) }

// Last returns the position of the log.
func (s *Shard) Last() job.Position { return s.log.Last() }

// Applied returns the position of the store.
func (s *Shard) Applied() job.Position { return s.store.Applied() }

// Find returns the position of a commit that the log has, or of a known ancestor of its base, and reports whether there is one.
// Replication asks it to find the last commit that this log and the cluster's have in common.
func (s *Shard) Find(lsn uint64) (job.Position, bool) {
	if base := s.log.Base(); lsn < base.LSN {
		return s.ancestors.find(lsn, base)
	}
	if lsn > s.log.Last().LSN {
		return job.Position{}, false
	}
	at, err := s.log.PositionOf(lsn)
	return at, err == nil
}

// sureLSN returns the LSN up to which the log may be replayed before the other nodes were asked. The last commit of a
// node that led may be in no other node's log, because the node died before it was confirmed. Without a cluster all
// commits are sure. The store cannot undo a commit, while the log can be cut ([Shard.CutTail]), so the doubtful
// commit stays out of the store until the cluster has answered.
func (s *Shard) sureLSN() uint64 {
	last, applied := s.log.Last().LSN, s.store.Applied().LSN
	if !s.directory.doubtful || last <= applied {
		return last
	}
	return max(applied, last-1)
}

// openParts opens the log and the store, and creates them in a new shard.
//
// The order of the steps makes a crash at any point safe. The log is created and made durable first, then the store,
// then the shard's line in PARTS. Once PARTS has it, both parts must exist. Without it, a store without a log is what
// remains of both: the log was there first. A log without a store is either what a crash in the first start left, or
// what remains of both. If that log begins with the first commit, the store is rebuilt from it with nothing lost. Any
// other log does not fit an empty store and is refused.
func (s *Shard) openParts() error {
	shown := s.directory.shown(s.number)
	if err := s.checkThere(shown); err != nil {
		return err
	}
	if err := s.makeDir(); err != nil {
		return fmt.Errorf("make the directory of shard %d: %w", s.number, err)
	}
	p := pair{dir: s.dir}
	if shown != "" {
		p.shown = filepath.Join(s.directory.dir, shown)
	}
	so := snapshot.Options{
		Dir: filepath.Join(s.dir, StoreName), Logger: s.logger, OnFatal: s.opts.OnFatal, MemTableBytes: memTableBytes(s.opts.Shards),
		Memory: s.directory.memory, TablesMax: s.directory.tablesMax,
	}
	err := p.open(s.logOptions(), so)
	if err == nil {
		err = s.directory.noteShard(s.number)
	}
	if err != nil {
		return errors.Join(err, p.close())
	}
	s.log, s.store, s.checkpoints = p.log, p.store, NewCheckpoints()
	s.ancestors = readAncestors(s.dir, s.log.Base(), s.logger)
	return nil
}

// makeDir makes the shard's directory durable: a commit is lost with the name of any directory above it.
func (s *Shard) makeDir() error {
	if exists(s.dir) {
		return nil
	}
	return makeShardDir(s.directory.dir, s.number)
}

// makeShardDir makes the directory of a shard, if it does not exist, and its name durable.
func makeShardDir(dir string, shard uint32) error {
	path := ShardDir(dir, shard)
	if err := os.MkdirAll(path, 0o700); err != nil {
		return err
	}
	return errors.Join(syncPath(filepath.Dir(path)), syncPath(dir))
}

func (s *Shard) openLog() error {
	log, err := wal.Open(s.logOptions())
	if err != nil {
		return fmt.Errorf("open the log: %w", err)
	}
	s.log = log
	return nil
}

// A log that is opened beside an open store, after a cut, is verified against that store's position.
func (s *Shard) logOptions() wal.Options {
	o := wal.Options{Dir: filepath.Join(s.dir, LogName), SegmentBytes: s.opts.SegmentBytes, Logger: s.logger}
	if s.store != nil { // otherwise pair.open reads it from the store
		applied := s.Applied()
		o.Applied = &applied
	}
	return o
}

// Parts returns the log and the store as one value, which stays valid until CutTail or Adopt.
func (s *Shard) Parts() Parts {
	return Parts{
		Log: s.log, Store: s.store, Logger: s.logger, Checkpoints: s.checkpoints,
		KeepBehind: s.opts.KeepBehind, MarkEvery: s.opts.MarkEvery, Replaying: s.opts.Replaying,
	}
}

// replayUpTo applies the log to the store up to the commit lsn, unless the store is there or beyond.
func (s *Shard) replayUpTo(lsn uint64) error { return s.Parts().Replay(lsn) }

// Keep makes checkpoints until ctx ends, and truncates the log that they cover. It blocks. The caller ends it, and
// waits until it has returned, before CutTail or Adopt, because it uses the log and the store that they replace.
func (s *Shard) Keep(ctx context.Context, every time.Duration) error {
	return s.Parts().Keep(ctx, every)
}

// Checkpoint makes the applied commits durable in the store, and truncates the log that they cover.
func (s *Shard) Checkpoint(ctx context.Context) error { return s.Parts().Checkpoint(ctx) }

// Close leaves a checkpoint and closes the log and the store. The directory stays open and locked. It works after a
// failed open, too: parts that were not opened are left out.
func (s *Shard) Close() error { return s.Parts().Close() }
