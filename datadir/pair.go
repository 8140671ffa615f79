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

// pair opens the log and the store of a shard together. It reads the store's position first, then verifies the log
// against it, and only then changes either. So a directory that is refused is unchanged. The nesting is the trick: the
// store calls back with its position before it changes its files, and the log is opened, and verified against that
// position, inside that call.
type pair struct {
	dir    string // of the shard
	shown  string // path of the file that shows that the shard has been in use; "" if there is none
	log    *wal.Log
	store  *snapshot.Store
	logErr error // why the log cannot be opened; nil if it can
}

// If both fail, the error of the log is returned unless it says only that the two do not fit: then the store may be
// the part that is wrong.
func (p *pair) open(lo wal.Options, so snapshot.Options) (err error) {
	so.Check = func(applied wal.Position) error { return p.openLog(lo, applied) }
	p.store, err = snapshot.Open(so)
	switch {
	case err == nil:
		return nil
	case p.logErr != nil && !errors.As(p.logErr, new(*wal.MismatchError)):
		return p.logErr // the cause is the log, not the store
	case errors.Is(err, snapshot.ErrForeign):
		err = p.formatLost(so.Dir, err)
	}
	return fmt.Errorf("open the store: %w", err)
}

// openLog opens the log beside a store at the position applied. It is the store's Check, which a new
// store calls a second time when its directory has been created.
func (p *pair) openLog(lo wal.Options, applied wal.Position) (err error) {
	if p.log != nil {
		return checkFit(p.log, applied)
	}
	lo.Applied = &applied
	p.log, err = wal.Open(lo)
	p.logErr = fitError(err)
	return p.logErr
}

// fitError wraps an error of package wal with the operation that failed.
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

// formatLost returns the error for a store directory that snapshot reports as foreign. If a file or the log shows
// that the shard has been in use, the store's file FORMAT is missing or damaged, and the error says so.
// Otherwise formatLost returns foreign: the directory holds other data. The difference matters to an operator: damage
// calls for a copy or a backup, foreign data for another directory.
func (p *pair) formatLost(store string, foreign error) error {
	shown := p.shown
	if shown == "" {
		if there, err := holds(filepath.Join(p.dir, LogName)); err != nil || !there {
			return foreign
		}
		shown = filepath.Join(p.dir, LogName) + string(filepath.Separator)
	}
	what := "is damaged"
	if _, err := os.Stat(filepath.Join(store, snapshot.FormatName)); errors.Is(err, fs.ErrNotExist) {
		what = "is missing"
	}
	return &snapshot.DamageError{Dir: store, File: snapshot.FormatName,
		Reason: fmt.Sprintf("the file %s, and %s shows that a store was here", what, shown)}
}

// close closes what has been opened.
func (p *pair) close() error { return Parts{Log: p.log, Store: p.store}.Close() }
