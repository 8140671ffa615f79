package datadir

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/carillon-io/carillon/backup"
	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/snapshot"
)

// ErrRestoring is returned by [OpenDirectory] for a data directory whose restore was interrupted.
var ErrRestoring = errors.New("the restore of this data directory was interrupted; run `carillon restore` on it again")

// ErrNotEmpty is returned by [Restore] for a directory that is not empty.
var ErrNotEmpty = errors.New("is not empty; a backup is restored into an empty or a new directory")

// Restored describes what was restored. It is valid only if Restore returned no error.
type Restored struct {
	backup.Header
	Jobs int
}

// Restore makes dir, which must be empty or absent, the data directory of a node alone with the data of a backup;
// OpenDirectory can then open it. When Restore returns, everything is verified and durable. After an error dir is
// empty or absent again. After a crash OpenDirectory refuses dir with ErrRestoring, while Restore accepts it. It
// returns ErrNotEmpty, ErrInUse, the errors of package backup, or an I/O error; [backup.ErrSet] if the backup is that of
// one shard of several. The store of the backup becomes the store of shard 0, and the log begins empty at the backup's
// position. A node that is restored is always alone: a backup contains no identity, so that a restored copy cannot pass
// for a member of the cluster that it came from.
func Restore(dir string, from io.Reader, logger *slog.Logger) (done Restored, err error) {
	all, err := RestoreSet(dir, []Archive{{From: from}}, logger)
	if err != nil {
		return done, err
	}
	return all[0], nil
}

// Archive is a backup that is restored.
type Archive struct {
	Name string // for errors; "": the caller names it
	From io.Reader
}

// RestoreSet is [Restore] for the backups of all shards of a cluster: each store becomes that of its shard. It returns
// [backup.ErrSet], before dir is touched, if they are not that. What was restored is in the order of the archives. It
// writes PARTS last, and then the mark goes.
func RestoreSet(dir string, from []Archive, logger *slog.Logger) (done []Restored, err error) {
	readers, parts := make([]*backup.Reader, len(from)), make([]backup.Part, len(from))
	for i, a := range from { // before anything is made
		if readers[i], err = backup.NewReader(a.From); err != nil {
			return nil, a.named(err)
		}
		parts[i] = backup.Part{Name: cmp.Or(a.Name, "it"), Header: readers[i].Header()}
	}
	if err := backup.CheckSet(parts); err != nil {
		return nil, err
	}
	t := &restoring{
		unfinished: unfinished{dir: dir, name: RestoringName, empty: ErrNotEmpty, contents: []string{ShardsName, StoreName, LogName}}, logger: logger,
	}
	if err := t.claim(); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, t.end(err)) }()
	var shards []uint32
	for i, r := range readers {
		one, err := t.restore(r)
		if err != nil {
			return nil, from[i].named(err)
		}
		done, shards = append(done, one), append(shards, t.shard)
	}
	if err := syncTree(dir); err != nil {
		return nil, err
	}
	return done, NoteParts(dir, shards...)
}

// named returns an error with the name of the archive that it is about.
func (a Archive) named(err error) error {
	if a.Name == "" {
		return err
	}
	return fmt.Errorf("%s: %w", a.Name, err)
}

// restoring is a directory that is being restored.
type restoring struct {
	unfinished
	logger *slog.Logger
	shard  uint32 // that is being restored
}

// shardDir returns the directory of the shard that is restored.
func (t *restoring) shardDir() string { return ShardDir(t.dir, t.shard) }

// store returns the place of the restored store.
func (t *restoring) store() string { return filepath.Join(t.shardDir(), StoreName) }

// restore makes the store and the log of one shard. The only shard of a server is number 0, whatever its backup says.
func (t *restoring) restore(r *backup.Reader) (done Restored, err error) {
	done.Header = r.Header()
	if t.shard = 0; done.Shards > 1 {
		t.shard = done.Shard
	}
	if err := t.receive(r); err != nil {
		return done, err
	}
	if done.Jobs, err = t.check(done.Position); err != nil {
		return done, fmt.Errorf("check what was restored: %w", err)
	}
	j := &join{dir: t.shardDir(), swap: swap{at: done.Position}, logger: t.logger}
	return done, j.beginLog()
}

// receive writes the files of a backup to the store's place, and returns when they are verified to be what was backed
// up. The reader verifies the checksums of the backup, so a damaged one ends with an error before the directory can be
// opened.
func (t *restoring) receive(r *backup.Reader) error {
	for {
		f, err := r.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = t.receiveFile(r, f.Name)
		}
		if err != nil {
			return err
		}
	}
}

// It refuses a name that exists already: a backup names each file once. Each file is synced, and syncTree makes the
// names durable later.
func (t *restoring) receiveFile(r *backup.Reader, name string) error {
	path := filepath.Join(t.store(), filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, r)
	return errors.Join(err, f.Sync(), f.Close())
}

// check opens the restored store, verifies that it is at the backup's position, and counts its jobs. The count serves
// the operator as a first sign that it is the right backup.
func (t *restoring) check(at job.Position) (jobs int, err error) {
	if err := checkStore(t.store(), at, t.logger); err != nil {
		return 0, err
	}
	s, err := snapshot.Open(snapshot.Options{Dir: t.store(), Logger: t.logger})
	if err != nil {
		return 0, err
	}
	jobs, err = countJobs(s)
	return jobs, errors.Join(err, s.Close())
}
