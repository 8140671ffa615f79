package datadir

import (
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"syscall"
)

// steps returns the steps of the move. Each is durable when it returns, and has no further effect when it is repeated.
func (m *move) steps() []func() error {
	steps := []func() error{m.announce, func() error { return makeShardDir(m.directory.dir, 0) }}
	for _, name := range m.names {
		steps = append(steps, func() error { return m.moveOne(name) })
	}
	return append(steps, m.leaveNote, m.finish)
}

// run executes steps; only a test executes fewer than all.
func (m *move) run(steps []func() error) error {
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// announce makes every release before shards refuse the directory.
func (m *move) announce() error {
	d := m.directory
	d.mu.Lock()
	defer d.mu.Unlock()
	p := partsFile{version: partsVersion, moving: true, shards: d.parts.shards}
	if d.inUse() != "" {
		p = p.with(0)
	}
	return d.writeParts(p)
}

// finish declares the move finished.
func (m *move) finish() error {
	d := m.directory
	d.mu.Lock()
	defer d.mu.Unlock()
	p := d.parts
	p.moving = false
	return d.writeParts(p)
}

// moveOne moves one name into the shard's directory. A part that is the root of a file system cannot be renamed: it
// stays, and the shard's directory gets a link to it.
func (m *move) moveOne(name string) error {
	from, to := m.old(name), m.path(name)
	info, err := os.Lstat(from)
	if err != nil {
		return err
	}
	if err := os.RemoveAll(to); err != nil { // check has seen that nothing is in it
		return err
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		err = m.moveLink(from, to)
	} else if err = m.rename(from, to); errors.Is(err, syscall.EBUSY) || errors.Is(err, syscall.EXDEV) {
		m.directory.logger.Warn("a part of the data directory is the root of a file system: it stays, and its new place is a link to it", slog.String("part", from))
		err = os.Symlink(filepath.Join("..", "..", name), to)
	}
	return errors.Join(err, syncPath(m.to), syncPath(m.directory.dir))
}

// moveLink makes the same link at the new place, and removes the old one. After a crash in between the two are the same
// directory, and the old link stays; it does no harm.
func (m *move) moveLink(from, to string) error {
	target, err := os.Readlink(from)
	if err != nil {
		return err
	}
	if !filepath.IsAbs(target) {
		target = filepath.Join("..", "..", target)
	}
	if err := errors.Join(os.Symlink(target, to), syncPath(m.to)); err != nil {
		return err
	}
	return os.Remove(from)
}

// leaveNote leaves the note in the place of the log. It is complete before it has its name, because an empty directory
// would say nothing.
func (m *move) leaveNote() error {
	dir, temp := m.directory.dir, m.old(movedTemp)
	// A start that goes on after a crash does not repeat a rename, whose names may not be durable yet.
	if err := errors.Join(syncPath(m.to), syncPath(dir)); err != nil {
		return err
	}
	if exists(m.old(LogName)) { // a file system of its own, or an earlier note
		return nil
	}
	err := errors.Join(os.RemoveAll(temp), os.Mkdir(temp, 0o700))
	if err == nil {
		err = errors.Join(writeSynced(filepath.Join(temp, movedName), movedText), syncPath(temp))
	}
	if err != nil {
		return err
	}
	return renameSynced(dir, temp, m.old(LogName))
}
