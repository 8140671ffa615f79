package datadir

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/testkit"
)

// TestShardsOfOneDirectory: a process opens several shards under one lock, each with data of its own, and misses one
// that is gone.
func TestShardsOfOneDirectory(t *testing.T) {
	t.Parallel()
	dir, numbers := filepath.Join(t.TempDir(), "data"), []uint32{0, 1, 255}
	for round := 1; round <= 2; round++ {
		d, err := OpenDirectory(Options{Dir: dir, Logger: discard})
		mustDo(t, err)
		if _, err := OpenDirectory(Options{Dir: dir, Logger: discard}); !errors.Is(err, ErrInUse) {
			t.Fatalf("opened twice: %v", err)
		}
		shards := openShards(t, d, numbers)
		for i, s := range shards {
			commit(t, s, job.ID(10*round), job.ID(10*round+i+1))
			if n := countTimers(t, s); n != round*(i+1) || s.Dir() != ShardDir(dir, numbers[i]) {
				t.Errorf("shard %d in %s has %d rows in round %d", numbers[i], s.Dir(), n, round)
			}
		}
		_, err = d.OpenShard(1, ShardOptions{})
		testkit.Refuses(t, err, "shards/1/")
		_, err = d.OpenShard(256, ShardOptions{})
		testkit.Refuses(t, err, "0 to 255")
		for _, s := range shards {
			mustDo(t, s.Close())
		}
		mustDo(t, d.Close())
	}
	b, err := os.ReadFile(filepath.Join(dir, PartsName))
	if want := "carillon data directory 2\nshard 0\nshard 1\nshard 255\n"; err != nil || string(b) != want {
		t.Errorf("%q, %v", b, err)
	}
	mustDo(t, os.RemoveAll(ShardDir(dir, 1)))
	d, err := OpenDirectory(Options{Dir: dir, Logger: discard})
	mustDo(t, err)
	var gone *GoneError
	if _, err := d.OpenShard(1, ShardOptions{}); !errors.As(err, &gone) || fmt.Sprint(gone.Parts) != "[shards/1/wal shards/1/store]" || exists(ShardDir(dir, 1)) {
		t.Errorf("shard 1 without its directory: %v", err)
	}
	s, err := d.OpenShard(0, ShardOptions{})
	mustDo(t, err)
	mustClose(t, s)
}

// openShards opens shards concurrently.
func openShards(t *testing.T, d *Directory, numbers []uint32) []*Shard {
	t.Helper()
	shards, errs := make([]*Shard, len(numbers)), make([]error, len(numbers))
	var wg sync.WaitGroup
	for i, number := range numbers {
		wg.Go(func() { shards[i], errs[i] = d.OpenShard(number, ShardOptions{SegmentBytes: 4 << 10}) })
	}
	wg.Wait()
	mustDo(t, errors.Join(errs...))
	return shards
}

// TestPartsFile: only the canonical text counts; anything else is that of a directory that has been in use.
func TestPartsFile(t *testing.T) {
	for text, want := range map[string]partsFile{
		"carillon data directory 1\n":                            {version: 1, shards: []uint32{0}},
		"carillon data directory 2\n":                            {version: 2},
		"carillon data directory 2\nmoving\n":                    {version: 2, moving: true},
		"carillon data directory 2\nmoving\nshard 0\nshard 12\n": {version: 2, moving: true, shards: []uint32{0, 12}},
		"carillon data directory 2\nshard 12\nshard 0\n":         {version: 1, shards: []uint32{0, 3}},
		"carillon data directory 2\nshard 1":                     {version: 1, shards: []uint32{0, 3}},
		"carillon data directory 2\nshard 256\n":                 {version: 1, shards: []uint32{0, 3}},
		"carillon data directory 2\nshard 1 \n":                  {version: 1, shards: []uint32{0, 3}},
		"carillon data directory 1\nshard 1\n":                   {version: 1, shards: []uint32{0, 3}},
		"carillon":                                               {version: 1, shards: []uint32{0, 3}},
		"":                                                       {version: 1, shards: []uint32{0, 3}},
	} {
		dir := t.TempDir()
		mustDo(t, errors.Join(os.MkdirAll(ShardDir(dir, 3), 0o750), os.WriteFile(filepath.Join(dir, PartsName), []byte(text), 0o640)))
		got, err := readParts(dir)
		if err != nil || got.version != want.version || got.moving != want.moving || !slices.Equal(got.shards, want.shards) {
			t.Errorf("%q: %+v, %v; want %+v", text, got, err, want)
		}
	}
	dir := t.TempDir()
	mustDo(t, NoteParts(dir, 3, 0, 3))
	if got, err := readParts(dir); err != nil || !slices.Equal(got.shards, []uint32{0, 3}) {
		t.Errorf("noted: %+v, %v", got, err)
	}
}

// TestShardThatIsNotServed: a directory with a shard that the program does not open is refused.
func TestShardThatIsNotServed(t *testing.T) {
	t.Parallel()
	d, err := OpenDirectory(Options{Dir: t.TempDir(), Logger: discard})
	mustDo(t, err)
	defer func() { mustDo(t, d.Close()) }()
	for n := range uint32(2) {
		mustDo(t, d.CheckShards(0))
		s, err := d.OpenShard(n, ShardOptions{})
		mustDo(t, err)
		mustDo(t, s.Close())
	}
	testkit.Refuses(t, d.CheckShards(0), "has shard 1, which this program does not serve")
	mustDo(t, d.CheckShards(0, 1))
}
