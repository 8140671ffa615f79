package embedded

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/carillon-io/carillon/datadir"
	"github.com/carillon-io/carillon/snapshot"
	"github.com/carillon-io/carillon/wal"
)

// ErrInUse is returned by [Open] for a directory that a scheduler or a server, in this process or
// another one, has open.
var ErrInUse = datadir.ErrInUse

// directory is an open data directory. The lock is held as long as the directory is open: two engines on one log
// would both decide its ticks.
type directory struct {
	datadir.Parts
	lock *os.File
}

// openDirectory opens a data directory, creates it if it does not exist, and replays the log into the store. It calls
// fatal at most once, when the disk fails later. The lock comes first, so that nothing is read that another process
// is changing.
func openDirectory(dir string, logger *slog.Logger, fatal func(error)) (_ *directory, err error) {
	d := &directory{Parts: datadir.Parts{Logger: logger}}
	defer func() {
		if err != nil {
			err = errors.Join(err, d.close())
		}
	}()
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return nil, fmt.Errorf("make the data directory: %w", err)
	}
	if d.lock, err = datadir.Lock(dir); err != nil {
		return nil, err
	}
	if err := checkAlone(dir); err != nil {
		return nil, err
	}
	d.Log, d.Store, err = datadir.Open(dir, "", wal.Options{Logger: logger}, snapshot.Options{Logger: logger, OnFatal: fatal})
	if err != nil {
		return nil, err
	}
	return d, d.Replay(d.Log.Last().LSN)
}

// checkAlone returns an error for the directory of a node in a cluster, whose jobs belong to the
// cluster, and for one whose restore was interrupted.
func checkAlone(dir string) error {
	const ofCluster = "this data directory is that of a node in a cluster, and an embedded scheduler would fork the cluster's jobs; choose another directory"
	for name, why := range map[string]string{
		datadir.NodeName: ofCluster, datadir.JoiningName: ofCluster,
		datadir.RestoringName: "the restore of this data directory was interrupted; run `carillon restore` on it again",
	} {
		_, err := os.Lstat(filepath.Join(dir, name))
		if err == nil {
			return fmt.Errorf("%s: %s", filepath.Join(dir, name), why)
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// close flushes the store, so that the next open has nothing to replay, and releases the directory.
func (d *directory) close() error {
	err := d.Close()
	if d.lock != nil {
		err = errors.Join(err, d.lock.Close())
	}
	return err
}
