package datadir

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/testkit"
)

// becomeOlder makes a closed directory that of a release before shards: the names of shard 0 are at the root.
func becomeOlder(t *testing.T, dir string) {
	t.Helper()
	entries, err := os.ReadDir(inShard(dir))
	for _, e := range entries {
		err = errors.Join(err, os.Rename(filepath.Join(inShard(dir), e.Name()), filepath.Join(dir, e.Name())))
	}
	err = errors.Join(err, os.RemoveAll(filepath.Join(dir, ShardsName)), os.WriteFile(filepath.Join(dir, PartsName), []byte("carillon data directory 1\n"), 0o640))
	if err != nil {
		t.Fatal(err)
	}
}

// older returns a directory of a release before shards with so many rows, and with each name of a shard.
func older(t *testing.T, rows int) (dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "data")
	s := openTestData(t, dir)
	commit(t, s, 1, job.ID(1+rows))
	mustClose(t, s)
	becomeOlder(t, dir)
	for _, name := range []string{"incoming/store", "outgoing", "wal.replaced-20261101T000000.000Z", "store.behind-20261101T000000.000Z", "nats/jetstream", "nats.replaced-20261101T000000.000Z"} {
		mustDo(t, os.MkdirAll(filepath.Join(dir, name), 0o750))
	}
	for _, name := range []string{"MEMBERS", "JOINING.TEMP", "diverged-1-2-3.frames", "INSTALLATION.txt"} {
		mustDo(t, os.WriteFile(filepath.Join(dir, name), []byte(name), 0o640))
	}
	return dir
}

func mustDo(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func namesIn(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	mustDo(t, err)
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// TestOlderDirectoryIsMoved: the first start moves what belongs to the shard and nothing else, and the next start
// changes nothing.
func TestOlderDirectoryIsMoved(t *testing.T) {
	t.Parallel()
	dir := older(t, 30)
	for range 2 {
		checkMoved(t, dir, 30)
	}
	root := []string{"INSTALLATION.txt", "LOCK", "PARTS", "nats", "nats.replaced-20261101T000000.000Z", "shards", "wal"}
	if got := namesIn(t, dir); !slices.Equal(got, root) {
		t.Errorf("at the root: %v", got)
	}
	shard := []string{"JOINING.TEMP", "MEMBERS", "SHARD", "diverged-1-2-3.frames", "incoming", "outgoing", "store", "store.behind-20261101T000000.000Z", "wal", "wal.replaced-20261101T000000.000Z"}
	if got := namesIn(t, inShard(dir)); !slices.Equal(got, shard) {
		t.Errorf("in the shard: %v", got)
	}
	if got := namesIn(t, filepath.Join(dir, LogName)); !slices.Equal(got, []string{movedName}) {
		t.Errorf("in the old place of the log: %v", got)
	}
	if b, err := os.ReadFile(filepath.Join(dir, PartsName)); err != nil || string(b) != "carillon data directory 2\nshard 0\n" {
		t.Errorf("%q, %v", b, err)
	}
}

// checkMoved opens a directory and checks that it has so many rows.
func checkMoved(t *testing.T, dir string, rows int) {
	t.Helper()
	s := openTestData(t, dir)
	if n := countTimers(t, s); n != rows {
		t.Errorf("%d rows, want %d", n, rows)
	}
	if d := s.Directory(); d.parts.moving || !d.parts.has(0) {
		t.Errorf("PARTS: %+v", d.parts)
	}
	mustClose(t, s)
}

// moveOf returns the move of a directory that no process has open.
func moveOf(t *testing.T, dir string) *move {
	t.Helper()
	parts, err := readParts(dir)
	mustDo(t, err)
	m := &move{directory: &Directory{dir: dir, logger: discard, parts: parts}, to: inShard(dir), rename: os.Rename}
	mustDo(t, m.find())
	return m
}

// TestEachStepOfTheMove stops the move after each of its steps, and once more after each of what was left. The next
// start finishes it.
func TestEachStepOfTheMove(t *testing.T) {
	t.Parallel()
	dir := older(t, 20)
	steps := len(moveOf(t, dir).steps())
	if steps != 4+10 {
		t.Fatalf("%d steps", steps)
	}
	for first := range steps + 1 {
		for second := range min(3, steps-first+1) {
			image := testkit.CopyDir(t, dir)
			for _, n := range []int{first, second} {
				m := moveOf(t, image)
				left := m.steps()
				mustDo(t, m.run(left[:min(n, len(left))]))
			}
			if first > 0 {
				if parts, err := readParts(image); err != nil || parts.version != partsVersion || !parts.has(0) {
					t.Fatalf("after step %d an older release would not refuse it: %+v, %v", first, parts, err)
				}
			}
			checkMoved(t, image, 20)
		}
	}
}

// TestMoveOfAJoin stops the move of a directory whose data was being replaced, with any of the renames done. The next
// start finishes the move, and then the swap.
func TestMoveOfAJoin(t *testing.T) {
	t.Parallel()
	dir, at := receive(t, 40, 25)
	for _, fate := range []Fate{Removed, Replaced} {
		whole := testkit.CopyDir(t, dir)
		mustDo(t, writeJoining(inShard(whole), swapTo(at, fate)))
		mustDo(t, (&join{dir: inShard(whole), swap: swapTo(at, fate), logger: discard}).run(3))
		becomeOlder(t, whole)
		names := moveOf(t, whole).names
		for done := range 1 << len(names) {
			image := testkit.CopyDir(t, whole)
			m := moveOf(t, image)
			mustDo(t, m.run(m.steps()[:2]))
			for i, name := range names {
				if done&(1<<i) != 0 {
					mustDo(t, m.moveOne(name))
				}
			}
			checkJoined(t, image, at, 25)
			checkKept(t, image, swapTo(at, fate), 40)
		}
	}
}

// TestOlderDirectoryThatIsRefused: a directory that has lost a part, or has data in both places, is left as it is.
func TestOlderDirectoryThatIsRefused(t *testing.T) {
	t.Parallel()
	dir := older(t, 10)
	for name, c := range map[string]struct {
		spoil func(dir string) error
		want  string
	}{
		"no log":          {func(dir string) error { return os.RemoveAll(filepath.Join(dir, LogName)) }, "wal/ is missing or empty, and "},
		"an empty store":  {func(dir string) error { return emptyDir(filepath.Join(dir, StoreName)) }, "store/ is missing or empty, and "},
		"a dangling link": {func(dir string) error { return replaceByLink(filepath.Join(dir, LogName), "nowhere") }, "is a link to nowhere, which is not there"},
		"links, and no file that shows use": {func(dir string) error {
			return errors.Join(forgetUse(dir),
				replaceByLink(filepath.Join(dir, LogName), "../away/wal"), replaceByLink(filepath.Join(dir, StoreName), "../away/store"))
		}, "which is not there"},
		"the note alone": {func(dir string) error {
			return errors.Join(os.Remove(filepath.Join(dir, PartsName)), os.RemoveAll(filepath.Join(dir, StoreName)),
				emptyDir(filepath.Join(dir, LogName)), os.WriteFile(filepath.Join(dir, LogName, movedName), nil, 0o640))
		}, "wal/MOVED-TO-SHARDS-0 shows that this data directory has been in use"},
		"shards elsewhere": {func(dir string) error {
			return errors.Join(os.Mkdir(dir+".elsewhere", 0o750), os.Symlink(dir+".elsewhere", filepath.Join(dir, ShardsName)))
		}, "shards is a link"},
		"a store alone": {func(dir string) error {
			return errors.Join(os.RemoveAll(filepath.Join(dir, LogName)), forgetUse(dir))
		}, "wal/ is missing or empty, and "},
		"both places": {func(dir string) error {
			return os.CopyFS(filepath.Join(inShard(dir), LogName), os.DirFS(filepath.Join(dir, LogName)))
		}, "both have data"},
		"members in both": {func(dir string) error {
			return errors.Join(os.MkdirAll(inShard(dir), 0o750), os.WriteFile(filepath.Join(inShard(dir), MembersName), nil, 0o640))
		}, "both have data"},
		"later layout": {func(dir string) error {
			return os.WriteFile(filepath.Join(dir, PartsName), []byte("carillon data directory 3\n"), 0o640)
		}, "version 3"},
	} {
		image := testkit.CopyDir(t, dir)
		mustDo(t, c.spoil(image))
		before := tree(t, image)
		_, err := openIn(Options{Dir: image, Logger: discard}, ShardOptions{})
		testkit.Refuses(t, err, c.want)
		if after := tree(t, image); !maps.Equal(before, after) {
			t.Errorf("%s: the directory has changed: %v", name, slices.Sorted(maps.Keys(after)))
		}
	}
}

// forgetUse removes what a release before the file PARTS did not write.
func forgetUse(dir string) error {
	return errors.Join(os.Remove(filepath.Join(dir, PartsName)), os.Remove(filepath.Join(dir, NumberName)))
}

func emptyDir(dir string) error { return errors.Join(os.RemoveAll(dir), os.Mkdir(dir, 0o750)) }

func replaceByLink(path, target string) error {
	return errors.Join(os.RemoveAll(path), os.Symlink(target, path))
}

// TestFirstStartOfAnOlderReleaseIsInterrupted: what a crash in the first start of an older release has left is moved,
// and completed.
func TestFirstStartOfAnOlderReleaseIsInterrupted(t *testing.T) {
	t.Parallel()
	dir := older(t, 10)
	for _, gone := range [][]string{{}, {StoreName}, {StoreName, LogName}} {
		image := testkit.CopyDir(t, dir)
		rows := 10
		mustDo(t, forgetUse(image))
		for _, name := range gone {
			mustDo(t, os.RemoveAll(filepath.Join(image, name)))
		}
		if len(gone) == 2 {
			rows = 0
			mustDo(t, os.Mkdir(filepath.Join(image, LogName), 0o750))
		}
		checkMoved(t, image, rows)
	}
}

// TestPartsElsewhere: a log that is a link, or the root of a file system, is used where it is, before the move and after
// it.
func TestPartsElsewhere(t *testing.T) {
	t.Parallel()
	for name, target := range map[string]func(image string) string{
		"absolute": func(image string) string { return filepath.Join(filepath.Dir(image), "fast") },
		"relative": func(string) string { return "../fast" },
	} {
		image := testkit.CopyDir(t, older(t, 10))
		log := filepath.Join(image, LogName)
		mustDo(t, os.Rename(log, filepath.Join(filepath.Dir(image), "fast")))
		mustDo(t, os.Symlink(target(image), log))
		for range 2 {
			checkMoved(t, image, 10)
		}
		if !isSame(filepath.Join(inShard(image), LogName), filepath.Join(filepath.Dir(image), "fast")) || namesIn(t, log)[0] != movedName {
			t.Errorf("%s: the link was not moved: %v", name, namesIn(t, log))
		}
	}
	image := testkit.CopyDir(t, older(t, 10))
	m := moveOf(t, image)
	m.rename = func(from, to string) error {
		if filepath.Base(from) == LogName {
			return &os.LinkError{Op: "rename", Old: from, New: to, Err: syscall.EBUSY}
		}
		return os.Rename(from, to)
	}
	mustDo(t, m.run(m.steps()))
	for range 2 {
		checkMoved(t, image, 10)
	}
	if !isSame(filepath.Join(inShard(image), LogName), filepath.Join(image, LogName)) || slices.Contains(namesIn(t, filepath.Join(image, LogName)), movedName) {
		t.Error("the root of a file system did not stay where it is")
	}
}

// TestBackAndForth: an operator moves the names back for an older release, and the next start moves them again.
func TestBackAndForth(t *testing.T) {
	t.Parallel()
	dir := older(t, 10)
	for range 2 {
		checkMoved(t, dir, 10)
		mustDo(t, errors.Join(os.Remove(filepath.Join(dir, LogName, movedName)), os.Remove(filepath.Join(dir, LogName))))
		becomeOlder(t, dir)
	}
	if names := strings.Join(namesIn(t, dir), " "); strings.Contains(names, ShardsName) {
		t.Errorf("back: %s", names)
	}
}
