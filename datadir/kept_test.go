package datadir

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/carillon-io/carillon/testkit"
)

// TestFateOfOldData: replaced data without rows is removed whatever is wanted, and of data that is behind one set is
// kept.
func TestFateOfOldData(t *testing.T) {
	t.Parallel()
	empty, dir := openTestData(t, t.TempDir()), t.TempDir()
	full := openTestData(t, dir)
	commit(t, full, 1, 5)
	for _, want := range []Fate{Removed, Behind, Replaced} {
		if f, err := full.fateOf(want); err != nil || f != want {
			t.Errorf("with rows: %d, %v; want %d", f, err, want)
		}
		if f, err := empty.fateOf(want); err != nil || f != Removed {
			t.Errorf("without rows, %d: %d, %v", want, f, err)
		}
	}
	for _, name := range []string{"wal.behind-20261101T000000.000Z", "store.behind-20261101T000000.000Z", "store.replaced-20261101T000000.000Z"} {
		if err := os.Mkdir(filepath.Join(inShard(dir), name), 0o750); err != nil {
			t.Fatal(err)
		}
	}
	if err := full.MayReplace(Behind); err != nil {
		t.Error(err)
	}
	left, err := filepath.Glob(filepath.Join(inShard(dir), "*.*-*Z"))
	if err != nil || len(left) != 1 || !strings.HasSuffix(left[0], "store.replaced-20261101T000000.000Z") {
		t.Errorf("left: %v, %v", left, err)
	}
	mustClose(t, empty)
	mustClose(t, full)
}

// TestWitnessNames: until the servers of a witness have had a leader, the cluster's name may change.
func TestWitnessNames(t *testing.T) {
	dir := t.TempDir()
	o := Options{ClusterName: "prdo", Witness: true}
	first := mustOpenIdentity(t, dir, o)
	o.ClusterName = "prod"
	held := mustHold(t, dir, o)
	if again := held.get(); again.Node != first.Node || again.Cluster != "prod" {
		t.Errorf("%+v, and first %+v", again, first)
	}
	if err := held.metLeader(); err != nil {
		t.Fatal(err)
	}
	_, err := openIdentity(dir, Options{ClusterName: "prdo", Witness: true})
	testkit.Refuses(t, err, `"prdo"`, `"prod"`)
}
