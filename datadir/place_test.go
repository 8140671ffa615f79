package datadir

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/carillon-io/carillon/backup"
	"github.com/carillon-io/carillon/testkit"
)

// openers are all that opens or makes a data directory.
var openers = map[string]func(dir, other string) error{
	"serve": func(dir, _ string) error { return opened(OpenDirectory(Options{Dir: dir, Logger: discard})) },
	"serve in a cluster": func(dir, _ string) error {
		return opened(OpenDirectory(Options{Dir: dir, ClusterName: "prod", Logger: discard}))
	},
	"witness": func(dir, _ string) error {
		return opened(OpenWitness(Options{Dir: dir, ClusterName: "prod", Witness: true, Logger: discard}))
	},
	"found": func(dir, _ string) error {
		_, err := Found(FoundOptions{Dir: dir, ClusterName: "prod", Logger: discard})
		return err
	},
	"divide": func(dir, other string) error { return divideOf(dir, filepath.Join(other, "new")) },
	"divide into": func(dir, other string) error {
		return divideOf(filepath.Join(other, "data"), dir)
	},
	"restore": func(dir, _ string) error {
		t := &restoring{unfinished: unfinished{dir: dir, name: RestoringName, empty: ErrNotEmpty}, logger: discard}
		err := t.claim()
		if err == nil {
			err = t.end(backup.ErrSet)
		}
		return err
	},
}

func opened(d *Directory, err error) error {
	if err == nil {
		err = d.Close()
	}
	return err
}

func divideOf(from, to string) error {
	d, err := Divide(DivideOptions{From: from, Shards: 2, FoundOptions: FoundOptions{Dir: to, ClusterName: "prod", Logger: discard}})
	if err == nil {
		err = d.Close(errors.New("not wanted"))
	}
	return err
}

// withParts returns a closed data directory with data and each kind of part, and one beside it.
func withParts(t *testing.T) (dir, other string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "data")
	s := openTestData(t, dir)
	commit(t, s, 1, 5)
	mustClose(t, s)
	for _, name := range []string{"shards/0/incoming/store", "shards/0/store.replaced-20261101T000000.000Z", "shards/0.replaced-20261101T000000.000Z", "nats/jetstream"} {
		mustDo(t, os.MkdirAll(filepath.Join(dir, name), 0o750))
	}
	other = t.TempDir()
	mustDo(t, os.CopyFS(filepath.Join(other, "data"), os.DirFS(dir)))
	mustDo(t, os.Symlink(filepath.Join(dir, "shards", "0"), filepath.Join(other, "link")))
	return dir, other
}

// refusedByAll checks that all that opens a directory refuses a path, with these texts, and changes nothing.
func refusedByAll(t *testing.T, path, root, other string, texts ...string) {
	t.Helper()
	for name, open := range openers {
		if _, err := os.Stat(path); err != nil && (name == "found" || name == "divide") {
			continue // they take a directory that exists
		}
		before, names, beside := tree(t, root), files(t, root), namesIn(t, other)
		err := open(path, other)
		if !errors.Is(err, ErrPart) {
			t.Errorf("%s: %s: %v", name, path, err)
			continue
		}
		testkit.Refuses(t, err, append(texts, path)...)
		if after := tree(t, root); !maps.Equal(before, after) || !slices.Equal(names, files(t, root)) || !slices.Equal(beside, namesIn(t, other)) {
			t.Errorf("%s: %s: the directory has changed", name, path)
		}
	}
}

// TestPartIsNoDataDirectory: a path inside a data directory is refused before anything is made or moved, whatever the part has
// and by whichever way the path leads there, and the refusal names the directory around it.
func TestPartIsNoDataDirectory(t *testing.T) {
	t.Parallel()
	dir, other := withParts(t)
	parts := []string{
		"shards", "shards/0", "shards/0/wal", "shards/0/store", "shards/0/incoming", "shards/0/incoming/store", "shards/0/new",
		"shards/0/store.replaced-20261101T000000.000Z", "shards/0.replaced-20261101T000000.000Z", "shards/7", "nats", "nats/jetstream",
	}
	for _, part := range parts {
		refusedByAll(t, filepath.Join(dir, part), dir, other, "it belongs to "+dir+",", filepath.Join(dir, PartsName)+" shows")
	}
	refusedByAll(t, filepath.Join(other, "link"), dir, other, "it belongs to "+dir+",")
	number := filepath.Join(dir, "shards", "0", NumberName)
	refusedByAll(t, filepath.Dir(number), dir, other, number+" says of which shard")
	mustDo(t, os.WriteFile(number, []byte("carillon shard ?\n"), 0o600))
	refusedByAll(t, filepath.Dir(number), dir, other, "it belongs to "+dir+",")
	mustDo(t, os.Remove(number))
	refusedByAll(t, filepath.Dir(number), dir, other, "it belongs to "+dir+",")
	mustDo(t, os.Remove(filepath.Join(dir, PartsName)))
	refusedByAll(t, filepath.Dir(number), dir, other, "it belongs to "+dir+",", filepath.Join(dir, LockName)+" shows")
}

// TestPartOfARunningDirectory: the process that has the directory around a part open goes on, and the directory starts again.
func TestPartOfARunningDirectory(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data")
	s := openTestData(t, dir)
	commit(t, s, 1, 5)
	testkit.Refuses(t, openers["serve"](inShard(dir), ""), "it belongs to "+dir)
	mustDo(t, s.Checkpoint(t.Context()))
	mustClose(t, s)
	s = openTestData(t, dir)
	if n := countTimers(t, s); n != 4 {
		t.Errorf("%d rows", n)
	}
	mustClose(t, s)
}

// TestPartElsewhere: a copy of a part outside a data directory is refused, too.
func TestPartElsewhere(t *testing.T) {
	t.Parallel()
	dir, other := withParts(t)
	for part, shows := range map[string]string{"shards/0": "SHARD", "shards/0/wal": "the files of a log", "shards/0/store": "FORMAT"} {
		image := testkit.CopyDir(t, filepath.Join(dir, part))
		refusedByAll(t, image, image, other, shows)
	}
	image := testkit.CopyDir(t, filepath.Join(dir, "shards", "0"))
	refusedByAll(t, filepath.Join(image, "wal"), image, other, "it belongs to "+image+",", filepath.Join("store", "FORMAT"))
}

// TestPlaces: a directory that only looks like a part is accepted.
func TestPlaces(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	for _, place := range []string{"new", "shards/0", "store", "wal", "data/other"} {
		path := filepath.Join(root, place)
		for range 2 {
			mustDo(t, CheckPlace(path))
			mustClose(t, openTestData(t, path))
		}
	}
	mustDo(t, os.MkdirAll(filepath.Join(root, "data", ShardsName), 0o750))
	mustDo(t, os.WriteFile(filepath.Join(root, "data", PartsName), nil, 0o600))
	mustDo(t, CheckPlace(filepath.Join(root, "data/other")))
	older := older(t, 3)
	mustDo(t, CheckPlace(older)) // SHARD is at the root after the way back
}

// TestNoneInsideAnother: no directory is made inside a data directory, by whatever name, and one that was made there before is
// opened as ever.
func TestNoneInsideAnother(t *testing.T) {
	t.Parallel()
	dir, other := withParts(t)
	mustDo(t, os.Symlink(dir, filepath.Join(other, "whole"))) // named as the path has it, or as it is on disk
	mustDo(t, os.MkdirAll(filepath.Join(dir, "empty"), 0o750))
	for _, path := range []string{filepath.Join(dir, "in"), filepath.Join(dir, "a", "b"), filepath.Join(dir, "empty"), filepath.Join(other, "whole", "in")} {
		for name, open := range openers {
			if name == "found" || name == "divide" {
				continue // they take a directory that has data
			}
			before, names := tree(t, dir), files(t, dir)
			if err := open(path, other); !errors.Is(err, ErrInside) || !strings.Contains(err.Error(), " as ") {
				t.Errorf("%s: %s: %v", name, path, err)
			}
			if !maps.Equal(before, tree(t, dir)) || !slices.Equal(names, files(t, dir)) {
				t.Errorf("%s: %s: the directory has changed", name, path)
			}
		}
	}
	image := testkit.CopyDir(t, dir)
	mustDo(t, os.Rename(image, filepath.Join(dir, "earlier")))
	mustClose(t, openTestData(t, filepath.Join(dir, "earlier")))
}

// TestWithin: places are compared by what they are on disk.
func TestWithin(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	at := func(name string) string { return filepath.Join(root, name) }
	for _, name := range []string{"one/deep", "two", "one2"} {
		mustDo(t, os.MkdirAll(at(name), 0o750))
	}
	for link, to := range map[string]string{"abs": at("one"), "rel": "one", "deep": "one/deep", "chain": "abs/deep", "two/back": "../one"} {
		mustDo(t, os.Symlink(to, at(link)))
	}
	for _, test := range []struct {
		dir, path string
		want      bool
	}{
		{"one", "one", true},
		{"one", "one/new/er", true},
		{"one", "one2", false},
		{"one", "two/new", false},
		{"one", "abs/new", true},
		{"abs", "one/new", true},
		{"rel", "abs/new", true},
		{"one", "deep/new", true},
		{"deep", "one", false},
		{"one", "chain", true},
		{"one", "two/back/new", true},
		{"none", "none/new", false},
	} {
		if got, err := isWithin(at(test.dir), at(test.path)); err != nil || got != test.want {
			t.Errorf("%s within %s: %v, %v", test.path, test.dir, got, err)
		}
	}
}
