package main

import (
	"fmt"

	"github.com/carillon-io/carillon/wal"
)

// walRelistCmd takes what is left of a log for the whole.
type walRelistCmd struct {
	Dir string `arg:"" help:"Data directory, or the wal directory in it; of a server that is stopped." type:"path"`
}

// Help is what `carillon wal relist --help` says besides the flags.
func (*walRelistCmd) Help() string {
	return `A start is refused if the newest segment of the log, its end, or the list SEGMENTS is missing. Put the file back, or restore a backup. If there is neither, this command makes the list anew from what is there: the acknowledged changes that it names are lost for good. Keep a copy of the directory before. A hole or a damaged commit in what is left is refused as before, and so is, at the next start, a store that is ahead of the log.

Examples:

  cp -a ./carillon-data ./carillon-data.kept
  carillon wal relist ./carillon-data`
}

// Run implements the command.
func (c *walRelistCmd) Run(con *console) error {
	dir, err := findLog(c.Dir)
	if err != nil {
		return err
	}
	was, ends, err := wal.Relist(wal.Options{Dir: dir})
	if err != nil {
		return err
	}
	t := con.table()
	t.pair("log", dir)
	t.pair("ends at", fmt.Sprintf("LSN %d", ends.LSN))
	switch {
	case was.LSN > ends.LSN:
		t.pair("lost", fmt.Sprintf("LSN %d to %d, and what came after them", ends.LSN+1, was.LSN))
	case was.LSN == 0:
		t.pair("lost", "not known: there was no list")
	default:
		t.pair("lost", "nothing that the list knew of")
	}
	return t.flush()
}
