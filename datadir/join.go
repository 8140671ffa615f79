package datadir

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/snapshot"
	"github.com/carillon-io/carillon/wal"
)

// The names in the directory of a shard. A node that joins a cluster, or begins anew, receives a copy of the leader's
// store into incoming/store; adoptIncoming replaces the node's store by it.
const (
	// It outlives the process, so that an interrupted transfer can continue.
	incomingName = "incoming"
	tempSuffix   = ".TEMP"
)

// adoptIncoming replaces the log and the store in dir, which must be closed, by the store in incoming/store and an
// empty log that begins at its position. The old ones are put aside, or removed if the swap says so. The caller holds
// the lock of the data directory. The received store must be at exactly that position, on the file system of dir, and is first made
// durable; after an error before that all is as it was. Then the swap is decided: after a crash or a failure the file
// JOINING remains, and finishJoin completes the swap, at the next start at the latest. The checks come before the
// decision because after it there is no way back: the old data may be gone.
func adoptIncoming(dir string, s swap, logger *slog.Logger) error {
	incoming := filepath.Join(dir, incomingName)
	err := checkSameDisk(dir, filepath.Join(incoming, StoreName), filepath.Join(dir, StoreName))
	if err == nil {
		err = checkStore(filepath.Join(incoming, StoreName), s.at, logger)
	}
	if err == nil {
		err = syncTree(incoming)
	}
	if err == nil {
		err = syncPath(dir)
	}
	if err != nil {
		return fmt.Errorf("adopt the received store: %w", err)
	}
	if err := writeJoining(dir, s); err != nil {
		return fmt.Errorf("adopt the received store: write %s: %w", JoiningName, err)
	}
	return finishJoin(dir, logger)
}

// finishJoin completes a swap that adoptIncoming has decided, from any point at which a crash or a failure stopped it.
// Without such a swap it does nothing, and leaves an incoming directory as it is. The caller holds the lock of the data
// directory; log and store must be closed. It may be called again after an error. A start calls it before it opens the log or the
// store, which would otherwise find parts of two different states.
func finishJoin(dir string, logger *slog.Logger) error {
	s, ok, err := readJoining(dir)
	if err == nil && ok {
		j := &join{dir: dir, swap: s, logger: logger}
		err = j.run(len(joinSteps))
	}
	if err != nil {
		return fmt.Errorf("finish joining the cluster in %s: %w", dir, err)
	}
	if ok {
		logger.Info("this node's data was replaced by the store that it received", "position", s.at.String())
		if s.fate != Removed {
			logger.Warn("the data that this node had is put aside; remove it when it is not needed any more",
				"log", keptPath(dir, LogName, s), "store", keptPath(dir, StoreName, s))
		}
	}
	return nil
}

// join is a swap that has been decided, with the directory in which it happens.
type join struct {
	swap
	dir    string
	logger *slog.Logger
}

// joinSteps are the steps of a swap. Each step is durable when it returns, and has no further effect when it is
// repeated, so that after a crash all of them are repeated.
//
// The file JOINING makes this safe: until it is removed, neither the new log nor the new store accepts a
// commit, so removing and making them again loses nothing. Whether the store is the old or the new one follows
// from incoming/store, which the rename removes. JOINING also gives the names of what is put aside: once such a
// name exists, what remains in the old place has no value.
var joinSteps = []func(*join) error{
	(*join).check,
	(*join).keepLog,
	(*join).dropLog,
	(*join).keepStore,
	(*join).dropStore,
	(*join).moveStore,
	(*join).beginLog,
	(*join).dropIncoming,
	(*join).forget,
}

// run executes the first n steps; only a test executes fewer than all.
func (j *join) run(n int) error {
	for _, step := range joinSteps[:n] {
		if err := step(j); err != nil {
			return err
		}
	}
	return nil
}

func (j *join) path(name string) string { return filepath.Join(j.dir, name) }
func (j *join) received() string        { return filepath.Join(j.dir, incomingName, StoreName) }

// moved reports whether the received store is in its place. It is the only evidence of how far the swap has come, so
// nothing before moveStore may remove incoming/store.
func (j *join) moved() (bool, error) {
	_, err := os.Lstat(j.received())
	if errors.Is(err, fs.ErrNotExist) {
		return true, nil
	}
	return false, err
}

// check examines the new store once more, before anything of the old data is removed. It opens the new store rather
// than trust its file names, since after this step the old data goes.
func (j *join) check() error {
	moved, err := j.moved()
	if err != nil {
		return err
	}
	store := j.received()
	if moved {
		store = j.path(StoreName)
	}
	if err := checkStore(store, j.at, j.logger); err != nil {
		return fmt.Errorf("%s says that the data was to be replaced by a store at %v, and it cannot be: %w; "+
			"remove the data directory and let the node join anew", j.path(JoiningName), j.at, err)
	}
	return nil
}

// dropLog removes the old log, or a new one that has not been used. It keeps the directory itself if that is the root
// of a file system. That also covers a log that beginLog made before a crash: the repeated steps remove it and make it
// again.
func (j *join) dropLog() error {
	entries, err := os.ReadDir(j.path(LogName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.Name() == "lost+found" {
			continue
		}
		if err := os.RemoveAll(filepath.Join(j.path(LogName), e.Name())); err != nil {
			return err
		}
	}
	return syncPath(j.path(LogName))
}

// Once the received store is in its place, that place has the new store, which must not be removed.
func (j *join) dropStore() error {
	if moved, err := j.moved(); err != nil || moved {
		return err
	}
	if err := os.RemoveAll(j.path(StoreName)); err != nil {
		return err
	}
	return syncPath(j.dir)
}

// moveStore renames the received store into its place. After a crash the store is in one place or the other;
// both directories are synced before a later step relies on it.
func (j *join) moveStore() error {
	moved, err := j.moved()
	if err != nil {
		return err
	}
	if !moved {
		if err := os.Rename(j.received(), j.path(StoreName)); err != nil {
			return err
		}
	}
	if err := syncPath(j.path(incomingName)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return syncPath(j.dir)
}

// The new log is empty and continues the store's position, so that the first commit received follows it without a gap.
func (j *join) beginLog() error {
	log, err := wal.Open(wal.Options{Dir: j.path(LogName), Start: j.at, Logger: j.logger})
	if err != nil {
		return err
	}
	return log.Close()
}

func (j *join) dropIncoming() error {
	if err := os.RemoveAll(j.path(incomingName)); err != nil {
		return err
	}
	return syncPath(j.dir)
}

// It is last: with the file gone, the next start treats log and store as ordinary ones.
func (j *join) forget() error {
	if err := os.Remove(j.path(JoiningName)); err != nil {
		return err
	}
	return syncPath(j.dir)
}

// checkStore opens the store in dir, which must exist, and verifies that it is at this position. It needs the store
// for itself, so it is closed again afterwards.
func checkStore(dir string, at job.Position, logger *slog.Logger) error {
	if _, err := os.Stat(dir); err != nil {
		return err // Open would make a new store
	}
	s, err := snapshot.Open(snapshot.Options{Dir: dir, Logger: logger})
	if err != nil {
		return err
	}
	found := s.Applied()
	if err := s.Close(); err != nil {
		return err
	}
	if found != at {
		return fmt.Errorf("the store %s is at %v, and %v is wanted", dir, found, at)
	}
	return nil
}

// checkSameDisk verifies that the received store can be renamed to the place of the old one, if there is an old one. A
// rename within one file system is atomic, and a copy is not. The check is before the decision, because the rename
// itself would fail only when the old store is gone.
func checkSameDisk(dir, received, old string) error {
	home, err := device(dir)
	if err != nil {
		return err
	}
	for _, path := range []string{received, old} {
		dev, err := device(path)
		if path == old && errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		if dev != home {
			return fmt.Errorf("%s is on another file system than %s; a node that joins needs them on one", path, dir)
		}
	}
	return nil
}
