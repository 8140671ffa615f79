package datadir

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/carillon-io/carillon/testkit"
)

// TestExchangedShardsAreRefused: a directory at the place of another shard is refused by name, and is not changed; at its own
// place it is opened again.
func TestExchangedShardsAreRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	d := openSeveral(t, dir)
	exchange := func() {
		spare := filepath.Join(dir, "spare")
		mustDo(t, os.Rename(ShardDir(dir, 0), spare))
		mustDo(t, os.Rename(ShardDir(dir, 2), ShardDir(dir, 0)))
		mustDo(t, os.Rename(spare, ShardDir(dir, 2)))
	}
	exchange()
	for shard, of := range map[uint32]string{0: "shard 2", 2: "shard 0"} {
		_, err := d.OpenShard(shard, ShardOptions{})
		testkit.Refuses(t, err, filepath.Join(ShardDir(dir, shard), NumberName), "this is the directory of "+of)
	}
	exchange()
	for _, s := range openShards(t, d, []uint32{0, 2}) {
		mustDo(t, s.Close())
	}
}

// TestNumberOfEarlierReleases: a directory without the file is opened, and gets the file when the caller says that the data is
// that of the shard. A damaged file is refused.
func TestNumberOfEarlierReleases(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	d := openSeveral(t, dir)
	path := filepath.Join(ShardDir(dir, 2), NumberName)
	mustDo(t, os.Remove(path))
	s := openShards(t, d, []uint32{2})[0]
	if exists(path) {
		t.Error("the file is written for data of which nobody said whose it is")
	}
	mustDo(t, s.NoteNumber())
	mustDo(t, s.NoteNumber())
	mustDo(t, s.Close())
	if text, err := os.ReadFile(path); err != nil || string(text) != "carillon shard 2\n" {
		t.Errorf("%q, %v", text, err)
	}
	for _, text := range []string{"", "carillon shard 2", "carillon shard 02\n", "carillon shard 256\n", "2\n", "carillon shard 2\n\n"} {
		mustDo(t, os.WriteFile(path, []byte(text), 0o600))
		_, err := d.OpenShard(2, ShardOptions{})
		testkit.Refuses(t, err, path, "the file is damaged")
	}
}
