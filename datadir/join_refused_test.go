package datadir

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/testkit"
)

// TestAdoptRefuses: what is not the store at that position is not adopted, and the node's own data stays
// as it is and in use.
func TestAdoptRefuses(t *testing.T) {
	t.Parallel()
	dir, at := receive(t, 40, 25)
	other := at
	other.Hash[5]++
	for name, c := range map[string]struct {
		at    job.Position
		spoil func(store string) error
	}{
		"another position": {other, func(string) error { return nil }},
		"nothing received": {at, os.RemoveAll},
		"not whole":        {at, func(store string) error { return os.Remove(filepath.Join(store, "FORMAT")) }},
		"no manifest":      {at, removeLike("MANIFEST-*")},
		"an empty store":   {at, func(store string) error { return errors.Join(os.RemoveAll(store), os.Mkdir(store, 0o750)) }},
	} {
		t.Run(name, func(t *testing.T) {
			image := testkit.CopyDir(t, dir)
			if err := c.spoil(filepath.Join(inShard(image), incomingName, StoreName)); err != nil {
				t.Fatal(err)
			}
			own := []string{LogName, StoreName}
			before := []map[string]string{tree(t, filepath.Join(inShard(image), own[0])), tree(t, filepath.Join(inShard(image), own[1]))}
			if err := adoptIncoming(inShard(image), swapTo(c.at, Replaced), discard); err == nil {
				t.Fatal("adopted")
			}
			for i := range own {
				if !maps.Equal(before[i], tree(t, filepath.Join(inShard(image), own[i]))) {
					t.Errorf("%s has changed", own[i])
				}
			}
			d := openTestData(t, image)
			if d.Applied().LSN != 40 || countTimers(t, d) != 40 {
				t.Errorf("the node's own data is at %v with %d rows", d.Applied(), countTimers(t, d))
			}
			mustClose(t, d)
		})
	}
}

func removeLike(pattern string) func(string) error {
	return func(dir string) error {
		names, err := filepath.Glob(filepath.Join(dir, pattern))
		for _, name := range names {
			err = errors.Join(err, os.Remove(name))
		}
		return err
	}
}

// TestIncomingIsLeftAlone: a start does not touch a transfer that is not complete.
func TestIncomingIsLeftAlone(t *testing.T) {
	t.Parallel()
	dir, _ := receive(t, 40, 25)
	before := tree(t, filepath.Join(inShard(dir), incomingName))
	mustClose(t, openTestData(t, dir))
	if err := finishJoin(inShard(dir), discard); err != nil {
		t.Fatal(err)
	}
	if !maps.Equal(tree(t, filepath.Join(inShard(dir), incomingName)), before) {
		t.Error("incoming has changed")
	}
}

// TestJoinThatCannotBeFinished: with the mark of a swap and nothing to swap in, or a mark that cannot be
// read, the start says so, and removes nothing.
func TestJoinThatCannotBeFinished(t *testing.T) {
	t.Parallel()
	dir, at := receive(t, 40, 25)
	if err := os.RemoveAll(filepath.Join(inShard(dir), incomingName)); err != nil {
		t.Fatal(err)
	}
	mark := encodeJoining(swapTo(at, Replaced))
	later := slices.Clone(mark)
	later[4] = 3
	for name, c := range map[string]struct {
		mark []byte
		want string
	}{
		"nothing to swap in": {mark, "join anew"},
		"damaged":            {append(slices.Clone(mark), 0), "damaged"},
		"empty":              {nil, "damaged"},
		"later version":      {rehash(later), "has version 3"},
	} {
		image := testkit.CopyDir(t, dir)
		if err := os.WriteFile(filepath.Join(inShard(image), JoiningName), c.mark, 0o640); err != nil {
			t.Fatal(err)
		}
		log := tree(t, filepath.Join(inShard(image), LogName))
		_, err := openIn(Options{Dir: image, Logger: discard}, ShardOptions{})
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), JoiningName) {
			t.Errorf("%s: %v", name, err)
		}
		if !maps.Equal(tree(t, filepath.Join(inShard(image), LogName)), log) {
			t.Errorf("%s: the log has changed", name)
		}
	}
}

// rehash corrects the checksum of a mark.
func rehash(b []byte) []byte {
	return appendSum(b[:joiningBytes-4])
}
