package datadir

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/snapshot"
	"github.com/carillon-io/carillon/wal"
)

// The errors of [Divide], besides those of OpenDirectory and OpenShard.
var (
	// ErrDividing is returned by [OpenDirectory] for a directory that an interrupted division has left.
	ErrDividing = errors.New("`carillon shard divide` was interrupted before this data directory was complete; run it again, or remove the directory")
	// ErrDivideNotEmpty says that the new directory is not empty.
	ErrDivideNotEmpty = errors.New("is not empty; the divided data goes into an empty or a new directory")
	// ErrDivided says that the directory to be divided is none of a node alone, nor of a cluster with one shard.
	ErrDivided = errors.New("only the data of a node alone, or of a node of a cluster with one shard, can be divided")
)

// sourceName is the directory, in the new one, with a copy of the data that is being divided.
const sourceName = "source"

// IDsName is the file, in the new directory, with the jobs that got other ids.
const IDsName = "ids.csv"

// DivideOptions name the data that is to be divided, and what becomes of it.
type DivideOptions struct {
	From         string // data directory of a stopped node; nothing in it is changed but its lock file
	Shards       int
	FoundOptions // Dir is the new directory, which must be empty or absent
}

// Division is a new data directory with several shards while it is being made. It is for one goroutine.
type Division struct {
	unfinished
	opts   DivideOptions
	from   *DirLock
	copied *Directory // of the data that is divided
	source *Shard
	memory *snapshot.Memory
	shards []*divided
	ready  bool // Finish has succeeded
}

// divided is one of the new shards.
type divided struct {
	store *snapshot.Store
	at    job.Position
	epoch uint64
}

// Divide locks both directories, and opens the data that is to be divided: a copy of it, because a start replays the log
// and changes the store. The tables of the store, which never change, are linked if the file system can. It changes
// nothing in o.From. The caller calls [Division.Write] with the rows of each shard, and then [Division.Close].
func Divide(o DivideOptions) (_ *Division, err error) {
	o.Logger = cmp.Or(o.Logger, slog.Default())
	if err := errors.Join(o.validate(), job.ValidateShards(o.Shards)); err != nil {
		return nil, err
	}
	if o.Shards == 1 {
		return nil, errors.New("one shard is not divided; `carillon cluster found` makes a cluster with one shard")
	}
	if err := o.checkPlaces(); err != nil {
		return nil, err
	}
	if _, err := o.identity(); err != nil {
		return nil, err
	}
	d := &Division{opts: o, unfinished: unfinished{
		dir: o.Dir, name: DividingName, empty: ErrDivideNotEmpty, contents: []string{ShardsName, sourceName, NodeName, ProvenName, IDsName},
	}}
	if d.from, err = occupy(o.From); err != nil {
		return nil, err
	}
	if err = d.claim(); err != nil {
		return nil, errors.Join(err, d.from.Close())
	}
	if err = d.open(); err != nil {
		return nil, d.Close(err)
	}
	return d, nil
}

// checkPlaces refuses directories of which one is in the other: the new one must not be a part of what is divided.
func (o *DivideOptions) checkPlaces() error {
	if _, err := os.Stat(o.From); err != nil {
		return err
	}
	if err := CheckPlace(o.From); err != nil {
		return err
	}
	if err := refusal(checkEntries(o.From, rootEntries, reader{clustered: !isAlone(o.From)})); err != nil {
		return err
	}
	into, err := isWithin(o.From, o.Dir)
	out, outErr := isWithin(o.Dir, o.From)
	if err := errors.Join(err, outErr); err != nil {
		return err
	}
	if into || out {
		return badOption("%s and %s are in each other; choose another new directory", o.From, o.Dir)
	}
	parts, err := readParts(o.From)
	if err == nil && (len(parts.shards) > 1 || len(parts.shards) == 1 && !parts.has(0)) {
		err = fmt.Errorf("%s has %d shards: %w", o.From, len(parts.shards), ErrDivided)
	}
	return err
}

// identity returns who the new directory is: the founder of a cluster. The name of a node stays. A member of a cluster
// is refused unless the operator gives that cluster up, because both would fire the same jobs.
func (o *DivideOptions) identity() (id Identity, err error) {
	id, err = ReadIdentity(o.From)
	if errors.Is(err, fs.ErrNotExist) {
		id, err = newIdentity(o.Dir, Options{Dir: o.Dir, ClusterName: o.ClusterName, Node: o.Node})
	}
	switch {
	case err != nil:
		return id, err
	case id.isWitness(), id.IsDiscarded():
		return id, fmt.Errorf("%s is node %q of cluster %q, whose state is %s: %w", o.From, id.Node, id.Cluster, id.State, ErrDivided)
	case id.State == StateMember && id.ClusterID != o.GiveUp:
		return id, fmt.Errorf("%s is node %q of the cluster %q; stop all its nodes, take the directory of the one that led last, and give the cluster up for the divided one: --give-up %s",
			o.From, id.Node, id.Cluster, id.ClusterID)
	}
	if id.State == StateFounder { // of another directory
		id.State = StateNew
		id.founds("", 0, job.Position{})
	}
	return id.founder(o.Dir, o.FoundOptions)
}

// open copies the data, and opens the copy as a start would.
func (d *Division) open() (err error) {
	if err := (partsFile{version: partsVersion}).write(d.dir); err != nil { // so that a release before shards refuses it
		return err
	}
	if err := d.copySource(); err != nil {
		return fmt.Errorf("copy the data of %s: %w", d.opts.From, err)
	}
	d.copied, err = OpenDirectory(Options{Dir: d.path(sourceName), Logger: d.opts.Logger, inside: true, anyIdentity: true})
	if err != nil {
		return err
	}
	if d.source, err = d.copied.OpenShard(0, ShardOptions{}); err != nil {
		return err
	}
	at := d.source.Applied()
	if at == (job.Position{}) {
		return fmt.Errorf("%s has no data to divide; begin a cluster with several shards with empty directories", d.opts.From)
	}
	d.memory = newMemory(0)
	for n := range uint32(d.opts.Shards) {
		if err := d.openShard(n, at); err != nil {
			return fmt.Errorf("make shard %d: %w", n, err)
		}
	}
	return nil
}

// openShard makes the store of a shard. It continues at the LSN of the data that is divided, so that no fence and no
// entry of the audit log is given out again, and with a hash of its own, so that no log of another shard fits it.
func (d *Division) openShard(n uint32, at job.Position) error {
	text := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(at.Hash[:], n), uint32(d.opts.Shards))
	digest := sha256.Sum256(text)
	start := job.Position{LSN: at.LSN, Epoch: at.Epoch}
	copy(start.Hash[:], digest[:])
	if err := makeShardDir(d.dir, n); err != nil {
		return err
	}
	store, err := snapshot.Open(snapshot.Options{
		Dir: filepath.Join(ShardDir(d.dir, n), StoreName), Logger: d.opts.Logger, Memory: d.memory, MemTableBytes: memTableBytes(d.opts.Shards), Start: start,
	})
	if err == nil {
		d.shards = append(d.shards, &divided{store: store, at: start, epoch: at.Epoch})
	}
	return err
}

// Source returns the store that is divided, with all commits of its log.
func (d *Division) Source() *snapshot.Store { return d.source.store }

// Store returns the store of a new shard.
func (d *Division) Store(shard uint32) *snapshot.Store { return d.shards[shard].store }

// Write adds rows to a new shard.
func (d *Division) Write(shard uint32, rows []byte) error {
	s := d.shards[shard]
	at := wal.Next(s.at, s.epoch, rows)
	if err := s.store.Apply(at, rows); err != nil {
		return fmt.Errorf("write the rows of shard %d: %w", shard, err)
	}
	s.at = at
	return nil
}

// Finish makes everything durable, begins the log of each shard, and makes the directory the founder of its cluster. The
// caller calls Close afterwards.
func (d *Division) Finish(ids []byte) (Founded, error) {
	done := Founded{Position: d.source.Applied(), Shards: d.opts.Shards}
	var err error
	if done.Jobs, err = countJobs(d.source.store); err != nil {
		return done, err
	}
	var shards []uint32
	for n, s := range d.shards {
		if err := d.finishShard(uint32(n), s); err != nil {
			return done, fmt.Errorf("finish shard %d: %w", n, err)
		}
		shards = append(shards, uint32(n))
	}
	id, err := d.opts.identity()
	if err != nil {
		return done, err
	}
	if err := errors.Join(d.closeSource(), os.RemoveAll(d.path(sourceName)), writeSynced(d.path(IDsName), string(ids)), d.copyExtras(id), syncTree(d.dir)); err != nil {
		return done, err
	}
	id.DividedLSN, id.DividedEpoch = done.Position.LSN, done.Position.Epoch
	if id, err = id.write(); err != nil {
		return done, err
	}
	done.Node, done.ClusterID = id.Node, id.ClusterID
	if done.Streams, err = LoneStreams(d.opts.From); err != nil {
		return done, err
	}
	err = NoteParts(d.dir, shards...)
	d.ready = err == nil
	return done, err
}

// finishShard makes the store of a shard durable, and begins its log.
func (d *Division) finishShard(n uint32, s *divided) error {
	if err := s.store.Close(); err != nil {
		return err
	}
	dir := ShardDir(d.dir, n)
	if err := checkStore(filepath.Join(dir, StoreName), s.at, d.opts.Logger); err != nil {
		return err
	}
	j := &join{dir: dir, swap: swap{at: s.at}, logger: d.opts.Logger}
	return j.beginLog()
}

func (d *Division) closeSource() (err error) {
	if d.source != nil {
		err = d.source.Close()
	}
	if d.copied != nil {
		err = errors.Join(err, d.copied.Close())
	}
	d.source, d.copied = nil, nil
	return err
}

// Close ends the division and unlocks both directories. After a failure, which it returns, the new directory is empty or
// absent again; otherwise Finish has succeeded, and the directory can be started.
func (d *Division) Close(failed error) error {
	var err error
	for _, s := range d.shards {
		err = errors.Join(err, s.store.Close())
	}
	err = errors.Join(err, d.closeSource())
	if d.memory != nil {
		d.memory.Close()
	}
	if err = errors.Join(failed, err); err == nil && !d.ready {
		err = fmt.Errorf("the division of %s ended early", d.opts.From)
	}
	return errors.Join(err, d.end(err), d.from.Close())
}
