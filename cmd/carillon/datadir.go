package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"

	"github.com/carillon-io/carillon/datadir"
)

// checkDataDir refuses a directory that has files but none of a data directory, so that a mistyped --data does not
// write files into another program's directory, and a part of a data directory. An empty or missing directory is accepted. One
// known name is enough, since a directory may have lost others and the start then says so better.
//
// A wrong directory is a mistake of the command line.
func checkDataDir(dir string) error {
	if err := checkPlace("data", dir); err != nil {
		return err
	}
	entries, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case errors.Is(err, syscall.ENOTDIR):
		return usagef("data directory: %w", err)
	case err != nil:
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
		return usagef("%s is not a data directory: it has %s and no shards/; choose an empty or a new directory with --data", dir, foreign)
	}
	return nil
}

// checkPlace refuses an empty directory of a flag, as of a variable that is not set, and a place where no data directory may be.
func checkPlace(flag, dir string) error {
	if dir == "" {
		return usagef("--%s is empty; want the name of a directory, or leave it out (unset the variable)", flag)
	}
	return aboutPlace(datadir.CheckPlace(dir))
}

// checkOldDir is checkDataDir for a directory that must exist.
func checkOldDir(dir string) error {
	if err := checkDataDir(dir); err != nil {
		return err
	}
	return aboutPlace(statErr(dir))
}

func statErr(path string) error {
	_, err := os.Stat(path)
	return err
}

// aboutPlace returns an error that says that a directory is not there, or may not be there, as one of the command line.
func aboutPlace(err error) error {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, datadir.ErrPart) || errors.Is(err, datadir.ErrInside) {
		return usagef("%w", err)
	}
	return err
}
