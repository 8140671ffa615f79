package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/carillon-io/carillon/datadir"
)

// checkDataDir refuses a directory that has files but none of a data directory, so that a mistyped --data does not
// write files into another program's directory, and a part of a data directory. An empty or missing directory is accepted. One
// known name is enough, since a directory may have lost others and the start then says so better.
func checkDataDir(dir string) error {
	if err := datadir.CheckPlace(dir); err != nil {
		return err
	}
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("data directory: %w", err)
	}
	foreign := ""
	for _, e := range entries {
		if datadir.IsName(e.Name()) {
			return nil
		}
		if foreign == "" && e.Name() != "lost+found" && e.Name() != datadir.LockName {
			foreign = e.Name()
		}
	}
	if foreign != "" {
		return fmt.Errorf("%s is not a data directory: it has %s and no shards/; choose an empty or a new directory with --data", dir, foreign)
	}
	return nil
}
