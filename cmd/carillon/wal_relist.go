package main

import (
	"fmt"

	"github.com/carillon-io/carillon/datadir"
	"github.com/carillon-io/carillon/wal"
)

// walRelistCmd accepts what is left of a log as the whole log.
type walRelistCmd struct {
	Dir string `arg:"" help:"Data directory, or the directory of a shard or of a log in it; of a stopped server." type:"path"`
}

// Help is what `carillon wal relist --help` says besides the flags.
func (*walRelistCmd) Help() string {
	return `A start is refused if the newest segment of the log, its end, or the list SEGMENTS is missing. Put the file back, or restore a backup. If there is neither, this command rebuilds the list from what is there: the acknowledged changes that it names are lost for good. Keep a copy of the directory first.

The store beside the log has the commits up to its own position. A log that ends before that, or that has no segment left, goes on behind the store: what is lost then is what came after the store's position. If the store cannot be read, nothing is done.

It does not repair a segment that is missing or damaged before an intact one, a missing BASE, a damaged store, or a store that is older than the log's first commit or of another history: restore a backup then.

Examples:

  cp -a ./carillon-data ./carillon-data.kept
  carillon wal relist ./carillon-data`
}

// Run implements the command. It goes by the store, because commits that the store has applied are not lost with
// the log.
func (c *walRelistCmd) Run(con *console) error {
	dir, err := findLog(c.Dir)
	if err != nil {
		return err
	}
	applied, err := datadir.StoreBeside(dir)
	if err != nil {
		return fmt.Errorf("what may be given up depends on the store beside the log, and it cannot be read: %w", err)
	}
	done, err := wal.Relist(wal.Options{Dir: dir, Applied: applied})
	if err != nil {
		return err
	}
	t := con.table()
	t.Row("log", dir)
	t.Row("store", newWalStore(applied, nil).text())
	t.Row("ends at", fmt.Sprintf("LSN %d", done.Ended.LSN))
	if done.Last != done.Ended {
		t.Row("goes on", fmt.Sprintf("behind the store, at LSN %d: the store has what the log has lost up to there", done.Last.LSN+1))
	}
	t.Row("lost", lostBy(done, applied == nil))
	return t.Flush()
}

// lostBy says which commits are given up. It says what is known to be lost and what may be, since the command accepts
// the loss for good.
func lostBy(done wal.Relisted, alone bool) string {
	text := ""
	switch {
	case done.Watermark.LSN > done.Last.LSN:
		text = fmt.Sprintf("LSN %d to %d, and what came after them", done.Last.LSN+1, done.Watermark.LSN)
	case !done.Listed:
		text = fmt.Sprintf("what came after LSN %d, if anything: there is no list that would know", done.Last.LSN)
	default:
		text = fmt.Sprintf("what came after LSN %d, if anything: the list knows of nothing", done.Last.LSN)
	}
	if alone {
		text += "; a store that is beyond this end is refused at the next start: relist its data directory as a whole"
	}
	return text
}
