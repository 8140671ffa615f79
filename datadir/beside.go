package datadir

import (
	"errors"
	"path/filepath"

	"github.com/carillon-io/carillon/snapshot"
	"github.com/carillon-io/carillon/wal"
)

// StoreBeside returns the position of the store beside the log in logDir, and changes nothing. The directory is the
// data directory of a process that has ended, or a copy of one. The position is nil if logDir is not the log of a data
// directory, or if that has no store. It is an error if the store cannot be read. It serves commands that read a log
// without its server, which must know how far the store has come before they call a short log damaged. It reads under
// the store's lock, without that of the data directory.
func StoreBeside(logDir string) (*wal.Position, error) { return storeBeside(logDir, snapshot.Inspect) }

// VerifyStoreBeside is StoreBeside, and checks every block of the store. If one is damaged, it returns the position and a
// [*snapshot.DamageError].
func VerifyStoreBeside(logDir string) (*wal.Position, error) {
	return storeBeside(logDir, snapshot.Verify)
}

func storeBeside(logDir string, read func(dir string) (wal.Position, error)) (*wal.Position, error) {
	logDir, err := filepath.Abs(logDir)
	if err != nil || filepath.Base(logDir) != LogName {
		return nil, err
	}
	store := filepath.Join(filepath.Dir(logDir), StoreName)
	if there, err := holds(store); err != nil || !there {
		return nil, err
	}
	at, err := read(store)
	if errors.Is(err, snapshot.ErrForeign) {
		p := pair{dir: filepath.Dir(logDir)}
		err = p.formatLost(store, err)
	}
	if err != nil && at == (wal.Position{}) {
		return nil, err
	}
	return &at, err
}
