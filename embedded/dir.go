package embedded

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/carillon-io/carillon/datadir"
)

// ErrInUse is returned by [Open] for a directory that a scheduler or a server, in this process or
// another one, has open.
var ErrInUse = datadir.ErrInUse

// directory is an open data directory with its one shard. The lock is held as long as the directory is open: two engines
// on one log would both decide its ticks.
type directory struct {
	*datadir.Shard
}

// openDirectory opens a data directory, creates it if it does not exist, and replays the log into the store. It calls
// fatal at most once, when the disk fails later.
func openDirectory(dir string, logger *slog.Logger, fatal func(error)) (*directory, error) {
	if err := checkAlone(dir); err != nil {
		return nil, err
	}
	d, err := datadir.OpenDirectory(datadir.Options{Dir: dir, Logger: logger})
	if err != nil {
		return nil, err
	}
	err = d.CheckShards(0)
	if err != nil {
		return nil, errors.Join(err, d.Close())
	}
	s, err := d.OpenShard(0, datadir.ShardOptions{OnFatal: fatal})
	if err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return &directory{s}, nil
}

// checkAlone returns an error for the directory of a node in a cluster, whose jobs belong to the cluster. A server may
// be started without a cluster on a directory that has not met one; an embedded scheduler is not, since a server for
// that cluster may follow.
func checkAlone(dir string) error {
	shard := datadir.ShardDir(dir, 0)
	for _, path := range []string{filepath.Join(dir, datadir.NodeName), filepath.Join(dir, datadir.JoiningName), filepath.Join(shard, datadir.JoiningName)} {
		_, err := os.Lstat(path)
		if err == nil {
			return fmt.Errorf("%s: this data directory is that of a node in a cluster, and an embedded scheduler would fork the cluster's jobs; choose another directory", path)
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// close flushes the store, so that the next open has nothing to replay, and releases the directory.
func (d *directory) close() error {
	return errors.Join(d.Close(), d.Directory().Close())
}
