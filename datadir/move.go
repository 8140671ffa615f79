package datadir

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// A release before shards kept the log, the store and what belongs to them at the root of the data directory. The first
// start of this one moves them into the directory of shard 0. The names stay the same, so the way back is a move, too.
//
// The steps, each durable before the next:
//
//  1. PARTS gets version 2 and the line "moving". From now on a release before shards refuses the directory.
//  2. shards/0 is made.
//  3. Each name is renamed into it.
//  4. wal/MOVED-TO-SHARDS-0 is left at the root.
//  5. The line "moving" goes.
//
// A crash leaves each name in one place or the other, and PARTS with the line "moving", so the next start does what is
// left. No shard is opened before the move is finished.

// The note that stays in the old place of the log. Its name is what a release before shards prints: all of its commands
// take a directory with such a file for a damaged log, and refuse it, even if PARTS was removed.
const (
	movedName = "MOVED-TO-SHARDS-0"
	movedText = "A newer release of Carillon has moved the log and the store to shards/0/wal and shards/0/store.\n" +
		"docs/operations.md, \"Back to the release before shards\", says how to go back.\n"
	movedTemp = LogName + ".moved" + tempSuffix // the directory with the note, until it is complete
)

// move is the move of a directory to the present layout.
type move struct {
	directory *Directory
	to        string                      // directory of shard 0
	names     []string                    // what is to be moved
	rename    func(from, to string) error // os.Rename, but in a test
}

// arrange brings the directory to the present layout. It changes nothing in a directory that has it. An older directory
// that has lost a part is refused before it is changed. The caller holds the lock of the directory.
func (d *Directory) arrange() error {
	parts, err := readParts(d.dir)
	if err != nil {
		return err
	}
	d.parts = parts
	m := &move{directory: d, to: ShardDir(d.dir, 0), rename: os.Rename}
	if err := m.find(); err != nil {
		return err
	}
	switch {
	case parts.version == partsVersion && !parts.moving && len(m.names) == 0:
		return nil
	case parts.version == 0 && len(m.names) == 0 && d.inUse() == "":
		return d.writeParts(partsFile{version: partsVersion}) // a new directory
	}
	if err := m.check(); err != nil {
		return err
	}
	if err := m.rehearse(); err != nil {
		return fmt.Errorf("%w; the data of the release before was not moved", err)
	}
	d.logger.Info("moving the data of the release before to the layout of this one", "to", m.to)
	if err := m.run(m.steps()); err != nil {
		return fmt.Errorf("move the data of the release before to %s: %w; the next start goes on with it", m.to, err)
	}
	return nil
}

// find lists what is at the root and belongs into the directory of shard 0, in the order of its names.
func (m *move) find() error {
	entries, err := os.ReadDir(m.directory.dir)
	for _, e := range entries {
		name := e.Name()
		if name == LogName || name == StoreName {
			there, err := m.hasOld(name)
			if err = errors.Join(err, checkLink(m.old(name))); err != nil {
				return err
			}
			if !there {
				continue
			}
		} else if !isOfShard(name) {
			continue
		}
		m.names = append(m.names, name)
	}
	return err
}

// checkLink returns an error for a link to nothing. What it leads to may be on a volume that is not mounted, so a start
// must not take the part for one that never was.
func checkLink(path string) error {
	target, err := os.Readlink(path)
	if err != nil {
		return nil //nolint:nilerr // it is no link, or does not exist
	}
	if _, err := os.Stat(path); err == nil {
		return nil
	}
	return fmt.Errorf("%s is a link to %s, which is not there: mount that volume, or correct the link (a relative one begins at the directory that it is in); nothing was changed", path, target)
}

// hasOld reports whether a part has data at the root. What the shard's directory links to is at its new place already.
func (m *move) hasOld(part string) (bool, error) {
	there, err := holds(m.old(part))
	return there && !isSame(m.old(part), m.path(part)), err
}

func (m *move) old(name string) string  { return filepath.Join(m.directory.dir, name) }
func (m *move) path(name string) string { return filepath.Join(m.to, name) }

// isSame reports whether two paths exist and lead to the same directory.
func isSame(a, b string) bool {
	one, err := os.Stat(a)
	other, otherErr := os.Stat(b)
	return err == nil && otherErr == nil && os.SameFile(one, other)
}

// inUse returns the name of the file that shows that shard 0 has had both parts: PARTS, or, beside none, a file that
// is written only when both parts exist or when both were moved. "" if there is none.
func (d *Directory) inUse() string {
	switch id := d.held.get(); {
	case d.parts.has(0):
		return PartsName
	case d.parts.version != 0:
		return ""
	case id.ClusterID != "" && !id.isWitness():
		return NodeName
	case hasInstallation(d.dir):
		return InstallationName
	case exists(filepath.Join(d.dir, LogName, movedName)):
		return filepath.Join(LogName, movedName)
	}
	return ""
}

// check returns an error if a name has data in both places, since only the operator knows which is the newer one, if the
// way to the new place is a link, and a GoneError if a part is in neither place. A swap that is not finished may have
// removed either part, and its own steps check them.
func (m *move) check() error {
	for _, path := range []string{m.old(ShardsName), m.to} {
		if _, err := os.Readlink(path); err == nil {
			return fmt.Errorf("%s is a link, and the move makes links relative to it: make it a directory, start once, and replace it then; nothing was changed", path)
		}
	}
	for _, name := range m.names {
		if !exists(m.path(name)) {
			continue
		}
		there, err := true, error(nil)
		if name == LogName || name == StoreName {
			there, err = holds(m.path(name))
		}
		if err != nil || there {
			return errors.Join(err, m.conflict(name))
		}
	}
	if exists(m.old(JoiningName)) || exists(m.path(JoiningName)) {
		return nil
	}
	in := "" // where the operator looks for what is missing
	if exists(m.to) {
		in = ShardDir("", 0)
	}
	return checkParts(m.directory.dir, in, m.directory.inUse(), func(part string) (bool, error) {
		old, err := holds(m.old(part))
		there, newErr := holds(m.path(part))
		return old || there, errors.Join(err, newErr)
	})
}

func (m *move) conflict(name string) error {
	return fmt.Errorf("%s and %s both have data: the first is where a release before shards keeps it, the second where this one does; "+
		"if the older release has run here meanwhile, put the directory %s aside, else %s, and start again", m.old(name), m.path(name), m.to, m.old(name))
}
