package main

import (
	"context"
	"fmt"
	"time"

	"github.com/carillon-io/carillon/datadir"
)

// restoreCmd creates a data directory from a backup. It needs no server. The directory must be empty, so that no data
// can be overwritten by mistake.
type restoreCmd struct {
	File string `arg:"" help:"Backup; - is standard input." complete:"@files"`
	Data string `help:"Data directory to create; must be empty or not exist." default:"./carillon-data" env:"CARILLON_DATA"`
	outputFlag
}

// Help is what `carillon restore --help` says besides the flags.
func (*restoreCmd) Help() string {
	return `The directory becomes that of a node alone, as of the moment of the backup. When it is served, the runs that were due since then count as missed, and the policy of each job applies. All checksums are verified. A directory whose restore was interrupted is refused by serve, and can be restored again.

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
	in, closeFile, err := con.open(c.File)
	if err != nil {
		return err
	}
	defer closeFile()
	done, err := datadir.Restore(c.Data, &interruptibleReader{ctx, con.measured(in, "restored")}, newLogger(con.err, "text", "warn"))
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
