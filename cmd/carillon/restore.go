package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/carillon-io/carillon/backup"
	"github.com/carillon-io/carillon/datadir"
)

// restoreCmd creates a data directory from a backup. It needs no server. The directory must be empty, so that no data
// can be overwritten by mistake.
type restoreCmd struct {
	File string `arg:"" help:"Backup, or the folder of the backups of all shards; - is standard input." complete:"@files"`
	Data string `help:"Data directory to create; must be empty or not exist." default:"./carillon-data" env:"CARILLON_DATA"`
	outputFlag
}

// Help is what `carillon restore --help` says besides the flags.
func (*restoreCmd) Help() string {
	return `The directory becomes that of a node alone, as of the moment of the backup. When it is served, the runs that were due since then count as missed, and the policy of each job applies. All checksums are verified. A directory whose restore was interrupted is refused by serve, and can be restored again.

The backups of a cluster of several shards are restored together, from their folder, into a directory with as many shards. A set with another number of them, a shard that is missing or twice, and shards of different clusters are refused before anything is made. Such a directory is not served alone: it founds a cluster.

Examples:

  carillon restore carillon.backup --data /var/lib/carillon
  gunzip < carillon.backup.gz | carillon restore - --data /var/lib/carillon`
}

// restored is the JSON of the command. It has the report of the backup, so that a script sees from which position
// the node continues.
type restored struct {
	backupReport
	Data string `json:"data"`
	Jobs int    `json:"jobs"`
}

// Run implements the command.
func (c *restoreCmd) Run(ctx context.Context, con *console) error {
	if err := checkPlace("data", c.Data); err != nil {
		return err
	}
	if isFolder(c.File) {
		return c.restoreSet(ctx, con)
	}
	in, closeFile, err := con.open(c.File)
	if err != nil {
		return err
	}
	defer closeFile()
	done, err := datadir.Restore(c.Data, &interruptibleReader{ctx, con.measured(in, "restored")}, newLogger(con.err, "text", "warn"))
	if errors.Is(err, backup.ErrSet) {
		return fmt.Errorf("restore %s into %s: %w; give the folder with all of them", showFile(c.File), c.Data, err)
	}
	if err != nil {
		return fmt.Errorf("restore into %s: %w", c.Data, aboutBackup(c.File, err))
	}
	if c.isDocument() {
		return c.print(con, restored{newBackupReport(c.File, done.Header), c.Data, done.Jobs})
	}
	con.printf("restored %s into %s, as of %s: LSN %d of epoch %d\n", plural(done.Jobs, "job"), c.Data,
		done.CreatedAt.Format(time.RFC3339), done.Position.LSN, done.Position.Epoch)
	con.notef("it is a node alone: carillon serve --data %s; to begin a cluster with it: carillon cluster found --data %s --cluster-name NAME\n", c.Data, c.Data)
	return nil
}

// restoredSet is the JSON of the command for a folder.
type restoredSet struct {
	Data   string     `json:"data"`
	Jobs   int        `json:"jobs"`
	Shards []restored `json:"shards"`
}

// restoreSet restores the backups of a folder.
func (c *restoreCmd) restoreSet(ctx context.Context, con *console) error {
	files, err := backupFiles(c.File)
	if err != nil {
		return err
	}
	var from []datadir.Archive
	for _, name := range files {
		f, err := os.Open(name)
		if err != nil {
			return err
		}
		defer func() { _ = f.Close() }()
		from = append(from, datadir.Archive{Name: filepath.Base(name), From: &interruptibleReader{ctx, con.measured(f, "restored from "+filepath.Base(name))}})
	}
	done, err := datadir.RestoreSet(c.Data, from, newLogger(con.err, "text", "warn"))
	if err != nil {
		return fmt.Errorf("restore %s into %s: %w", c.File, c.Data, err)
	}
	all := restoredSet{Data: c.Data}
	for i, one := range done {
		all.Jobs += one.Jobs
		all.Shards = append(all.Shards, restored{newBackupReport(files[i], one.Header), c.Data, one.Jobs})
	}
	slices.SortFunc(all.Shards, func(a, b restored) int { return int(a.Shard) - int(b.Shard) })
	if c.isDocument() {
		return c.print(con, all)
	}
	for _, one := range all.Shards {
		con.printf("restored %s of shard %d into %s, as of %s: LSN %d of epoch %d\n", plural(one.Jobs, "job"), one.Shard, c.Data, one.CreatedAt.Format(time.RFC3339), one.LSN, one.Epoch)
	}
	con.notef("to begin a cluster of %s with it: carillon cluster found --data %s --cluster-name NAME\n", plural(len(done), "shard"), c.Data)
	return nil
}
