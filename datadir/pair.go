package datadir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/carillon-io/carillon/snapshot"
	"github.com/carillon-io/carillon/wal"
)

// pair opens the log and the store of a directory as one. The store is read first, then the log is judged
// by the position that was found, and only then either is changed: what is refused is as it was.
type pair struct {
	dir     string
	witness string // the name in dir that shows that it has been in use; "" if there is none
	log     *wal.Log
	store   *snapshot.Store
	logErr  error // what keeps the log from being opened
}

func (p *pair) open(lo wal.Options, so snapshot.Options) (err error) {
	so.Check = func(applied wal.Position) error { return p.openLog(lo, applied) }
	p.store, err = snapshot.Open(so)
	switch {
	case err == nil:
		return nil
	case p.logErr != nil && !errors.As(p.logErr, new(*wal.MismatchError)):
		return p.logErr // the store is not to blame
	case errors.Is(err, snapshot.ErrForeign):
		err = p.formatLost(so.Dir, err)
	}
	return fmt.Errorf("open the store: %w", err)
}

// openLog opens the log beside a store at this position. A new store asks a second time, when its directory
// is made.
func (p *pair) openLog(lo wal.Options, applied wal.Position) (err error) {
	if p.log != nil {
		return checkFit(p.log, applied)
	}
	lo.Applied = &applied
	p.log, err = wal.Open(lo)
	p.logErr = fitError(err)
	return p.logErr
}

// fitError says of what an error of package wal is.
func fitError(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.As(err, new(*wal.MismatchError)):
		return fmt.Errorf("the store and the log do not fit together: %w", err)
	default:
		return fmt.Errorf("open the log: %w", err)
	}
}

// checkFit compares an open log with the position of the store.
func checkFit(log *wal.Log, applied wal.Position) error { return fitError(log.CheckApplied(applied)) }

// formatLost returns what is wrong with a store that is taken for something else, in a directory that has
// been in use: its file FORMAT is gone or damaged. Without a sign of that the directory is foreign indeed.
func (p *pair) formatLost(store string, foreign error) error {
	witness := p.witness
	if witness == "" {
		if there, err := holds(filepath.Join(p.dir, LogName)); err != nil || !there {
			return foreign
		}
		witness = LogName + string(filepath.Separator)
	}
	what := "is damaged"
	if _, err := os.Stat(filepath.Join(store, snapshot.FormatName)); errors.Is(err, fs.ErrNotExist) {
		what = "is missing"
	}
	return &snapshot.DamageError{Dir: store, File: snapshot.FormatName,
		Reason: fmt.Sprintf("the file %s, and %s shows that a store was here", what, filepath.Join(p.dir, witness))}
}

// close gives up what has been opened.
func (p *pair) close() error { return Parts{Log: p.log, Store: p.store}.Close() }
