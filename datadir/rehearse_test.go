package datadir

import (
	"io"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/carillon-io/carillon/snapshot"
	"github.com/carillon-io/carillon/testkit"
	"github.com/carillon-io/carillon/wal"
)

// TestRefusedUpgradeMovesNothing: what would refuse the start after the move refuses it before, and everything stays at its old
// place. Without that, the start moves it.
func TestRefusedUpgradeMovesNothing(t *testing.T) {
	t.Parallel()
	dir := older(t, 10)
	write := func(name, text string) func(*testing.T, string) io.Closer {
		return func(t *testing.T, dir string) io.Closer {
			mustDo(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
			return nil
		}
	}
	for want, spoil := range map[string]func(t *testing.T, dir string) io.Closer{
		"wal: the directory is in use": func(t *testing.T, dir string) io.Closer {
			log, err := wal.Open(wal.Options{Dir: filepath.Join(dir, LogName), Logger: discard})
			mustDo(t, err)
			return log
		},
		"the store is in use": func(t *testing.T, dir string) io.Closer {
			store, err := snapshot.Open(snapshot.Options{Dir: filepath.Join(dir, StoreName), Logger: slog.New(slog.DiscardHandler)})
			mustDo(t, err)
			return store
		},
		"corrupt log": func(t *testing.T, dir string) io.Closer {
			paths, err := filepath.Glob(filepath.Join(dir, LogName, "0*"))
			mustDo(t, err)
			mustDo(t, os.Truncate(paths[0], 0))
			return nil
		},
		"FORMAT":                     write("store/FORMAT", "x"),
		"SHARD: the file is damaged": write(NumberName, "carillon shard ?\n"),
		"at the place of shard 0":    write(NumberName, "carillon shard 3\n"),
		"JOINING: the file":          write(JoiningName, "x"),
	} {
		image := testkit.CopyDir(t, dir)
		open := spoil(t, image)
		kept := func() map[string]string {
			files := tree(t, image)
			// A store that is open removes files of its own that it needs no more.
			maps.DeleteFunc(files, func(name, _ string) bool { return open != nil && strings.HasPrefix(name, StoreName+"/") })
			return files
		}
		before := kept()
		_, err := openIn(Options{Dir: image, Logger: discard}, ShardOptions{})
		testkit.Refuses(t, err, want, "was not moved")
		if after := kept(); !maps.Equal(before, after) || exists(filepath.Join(image, ShardsName)) {
			t.Errorf("%s: the directory has changed", want)
		}
		if open != nil {
			mustDo(t, open.Close())
			checkMoved(t, image, 10)
		}
	}
}

// TestRefusedUpgradeWithASwap: a log that a swap is about to replace need not fit its store, but nobody may have it open.
func TestRefusedUpgradeWithASwap(t *testing.T) {
	t.Parallel()
	dir := older(t, 10)
	mustDo(t, writeJoining(dir, swap{}))
	log, err := wal.Open(wal.Options{Dir: filepath.Join(dir, LogName), Logger: discard})
	mustDo(t, err)
	m := moveOf(t, dir)
	testkit.Refuses(t, m.rehearse(), "in use")
	mustDo(t, log.Close())
	mustDo(t, os.RemoveAll(filepath.Join(dir, StoreName)))
	mustDo(t, m.rehearse())
}
