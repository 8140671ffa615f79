package datadir

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/carillon-io/carillon/snapshot"
	"github.com/carillon-io/carillon/wal"
)

// rehearse returns an error if the start that follows the move would be refused for what is moved: a log or a store that another
// process has open, that is damaged, or that does not fit the other one, and a small file that cannot be read. So what is
// refused stays where it is. It changes nothing, and reads the whole log once more.
func (m *move) rehearse() error {
	r := reader{m.directory.clustered, 0}
	for _, dir := range []string{m.directory.dir, m.to} {
		if err := refusal(checkEntries(dir, shardEntries, r)); err != nil {
			return err
		}
	}
	err := m.rehearseParts()
	inUse := errors.Is(err, wal.ErrLocked) || errors.Is(err, snapshot.ErrInUse)
	if !inUse && (exists(m.old(JoiningName)) || exists(m.path(JoiningName))) {
		return nil // the steps of the swap check the parts, and replace them
	}
	return err
}

// rehearseParts reads the store and checks the log against it, as a start does.
func (m *move) rehearseParts() error {
	applied := wal.Position{}
	store, err := m.placeOf(StoreName)
	if err != nil {
		return err
	}
	if store != "" {
		applied, err = snapshot.Inspect(store)
	}
	if errors.Is(err, snapshot.ErrForeign) {
		p := pair{dir: filepath.Dir(store)}
		if shown := m.directory.inUse(); shown != "" {
			p.shown = m.old(shown)
		}
		err = p.formatLost(store, err)
	}
	if err != nil {
		return fmt.Errorf("open the store: %w", err)
	}
	log, err := m.placeOf(LogName)
	if err != nil || log == "" {
		return err
	}
	_, err = wal.VerifyBeside(log, &applied)
	return fitError(err)
}

// placeOf returns the directory of a part, at its old place or its new one; "" if it is at neither.
func (m *move) placeOf(part string) (string, error) {
	if old, err := m.hasOld(part); old || err != nil {
		return m.old(part), err
	}
	there, err := holds(m.path(part))
	if !there {
		return "", err
	}
	return m.path(part), err
}
