package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/carillon-io/carillon/datadir"
	"github.com/carillon-io/carillon/wal"
)

// walCmd groups the commands that read a log offline.
type walCmd struct {
	Verify walVerifyCmd `cmd:"" help:"Read a whole log and check that it is intact."`
	Dump   walDumpCmd   `cmd:"" help:"Print the commits of a log, row by row."`
	Relist walRelistCmd `cmd:"" help:"Accept that a log has lost its end, and go on with the rest."`
}

// Help is what `carillon wal --help` says besides the commands.
func (*walCmd) Help() string {
	return `Examples:

  carillon wal verify ./carillon-data
  carillon wal dump ./carillon-data --from 1200`
}

// walDumpCmd prints the commits of a log.
type walDumpCmd struct {
	Path string `arg:"" help:"Data directory, or the directory of a shard or of a log in it, of a stopped server, or a copy; or a file that a node put aside." type:"path"`
	From uint64 `help:"First LSN to print; 0 is the first that is kept." placeholder:"LSN"`
	outputFlag
}

// Help is what `carillon wal dump --help` says besides the flags.
func (*walDumpCmd) Help() string {
	return `Each commit is a line, each row that it changes a line below. With -o json each commit is one JSON line, with -o yaml one YAML document. Commits before a damaged place are printed, then the damage is reported.

Examples:

  carillon wal dump ./carillon-data --from 1200
  carillon wal dump ./carillon-data -o json | jq 'select(.epoch == 3)'
  carillon wal dump ./carillon-data/shards/0/diverged-3-1201-1795274049000.frames`
}

// Run implements the command.
func (c *walDumpCmd) Run(ctx context.Context, con *console) error {
	out := con.buffered()
	show := out.printCommit
	if c.isDocument() {
		show = func(f wal.Frame) error { return out.printCommitDocument(c.Output, f) }
	}
	err := c.dump(func(f wal.Frame) error {
		if err := ctx.Err(); err != nil || f.LSN < c.From {
			return err
		}
		return show(f)
	})
	return errors.Join(err, out.flush())
}

// dump passes the commits of a log, or of a single file of it, to show.
func (c *walDumpCmd) dump(show func(wal.Frame) error) error {
	if info, err := os.Stat(c.Path); err == nil && info.Mode().IsRegular() {
		return wal.DumpFile(c.Path, show)
	}
	dir, err := findLog(c.Path)
	if err != nil {
		return err
	}
	return wal.Dump(dir, c.From, show)
}

// findLog returns the directory of one log: of the only shard if the argument is a data directory, wal below the argument
// if that exists, else the argument itself. All are accepted, because people copy any of them; wal is below the directory
// of a shard, and below a data directory that a release before shards has left.
func findLog(dir string) (string, error) {
	logs, err := findLogs(dir)
	if err == nil && len(logs) > 1 {
		return "", usagef("%s has %d shards; name one, such as %s", dir, len(logs), filepath.Dir(logs[1]))
	}
	if err != nil {
		return "", err
	}
	return logs[0], nil
}

// findLogs returns the directories of the logs: of all shards if the argument is a data directory, and otherwise the one of
// findLog.
func findLogs(dir string) ([]string, error) {
	shards, err := datadir.ShardsOf(dir)
	if err != nil {
		return nil, err
	}
	var logs []string
	for _, shard := range shards {
		logs = append(logs, filepath.Join(datadir.ShardDir(dir, shard), datadir.LogName))
	}
	if len(logs) > 0 {
		return logs, nil
	}
	for _, candidate := range []string{filepath.Join(dir, datadir.LogName), dir} {
		if info, err := os.Stat(candidate); err == nil && info.IsDir() {
			if err := datadir.CheckLog(candidate); err != nil {
				return nil, usagef("%w", err)
			}
			return []string{candidate}, nil
		}
	}
	if err := statErr(dir); err != nil {
		return nil, aboutPlace(err)
	}
	return nil, usagef("%s is not a directory; want a data directory or the wal directory in it", dir)
}
