package snapshot

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/objstorage"
	"github.com/cockroachdb/pebble/v2/sstable"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/carillon-io/carillon/job"
)

// Verify is Inspect, and reads every block of every table of the store and compares it with its checksum. Open reads few of
// them: a damaged one is found when a row in it is read, or a compaction takes it. If a table is damaged, Verify returns the
// position and a *DamageError that names the first one. It takes as long as reading the files takes, and the memory of one table's
// index.
func Verify(dir string) (at job.Position, err error) {
	if dir, err = filepath.Abs(dir); err != nil {
		return at, err
	}
	if at, err = verify(dir, readOnlyFS{vfs.Default}); err != nil {
		return at, fmt.Errorf("read the store %s: %w", dir, err)
	}
	return at, nil
}

func verify(dir string, fsys vfs.FS) (job.Position, error) {
	return inspect(dir, fsys, func(lock *pebble.Lock) error {
		var tables []string
		err := openAlone(dir, fsys, lock, newFault(slog.New(slog.DiscardHandler)), func(db *pebble.DB) (err error) {
			tables, err = liveTables(db)
			return err
		})
		for _, name := range tables {
			if err == nil {
				err = verifyTable(dir, name, fsys)
			}
		}
		return err
	})
}

// liveTables returns the names of the files of a store's tables. Others, which a crash has left, are no part of it.
func liveTables(db *pebble.DB) (names []string, err error) {
	levels, err := db.SSTables()
	for _, level := range levels {
		for _, table := range level {
			names = append(names, table.BackingSSTNum.String()+tableSuffix)
		}
	}
	return names, err
}

// verifyTable checks each block of a table. A panic of the library over the file is an error.
func verifyTable(dir, name string, fsys vfs.FS) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("pebble: %v", r)
		}
		if err != nil {
			err = &DamageError{Dir: dir, File: name, Reason: "it is damaged", Err: terse{err}}
		}
	}()
	file, err := fsys.Open(fsys.PathJoin(dir, name), vfs.SequentialReadsOption)
	if err != nil {
		return err
	}
	blocks, err := sstable.NewSimpleReadable(file)
	if err != nil {
		return errors.Join(err, file.Close())
	}
	return verifyBlocks(blocks)
}

// verifyBlocks checks each block of a table, and closes it.
func verifyBlocks(blocks objstorage.Readable) error {
	o := &pebble.Options{FormatMajorVersion: pebbleFormat}
	o.EnsureDefaults()
	table, err := sstable.NewReader(context.Background(), blocks, o.MakeReaderOptions())
	if err != nil {
		return errors.Join(err, blocks.Close())
	}
	return errors.Join(table.ValidateBlockChecksums(), table.Close())
}
