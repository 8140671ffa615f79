package snapshot

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/carillon-io/carillon/job"
)

// TestOrderOfChanges: in one commit with several groups of changes, the last change of a key counts, and a deleted range
// deletes what came before it and nothing that comes after.
func TestOrderOfChanges(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 9))
	var b job.Batch
	want := map[string]string{}
	kinds := []job.Kind{job.KindTrait, job.KindTimer, job.KindJob, job.KindLabel}
	for i := range 3*groupMost + 100 {
		key := fmt.Sprintf("%c%03d", kinds[rng.IntN(len(kinds))], rng.IntN(500))
		switch op := rng.IntN(1000); {
		case op < 700:
			value := fmt.Sprintf("%c%d", 1, i)
			b.Put([]byte(key), []byte(value))
			want[key] = value
		case op < 998:
			b.Delete([]byte(key))
			delete(want, key)
		default:
			high := string(key[0]) + "400"
			b.DeleteRange([]byte(key), []byte(high))
			maps.DeleteFunc(want, func(k, _ string) bool { return key <= k && k < high })
		}
	}
	s := mustOpen(t, testOptions(vfs.NewMem()))
	defer mustClose(t, s)
	mustApply(t, s, 1, b.Bytes())
	if got := contents(t, s); !maps.Equal(got, want) {
		t.Errorf("%d rows, want %d, or others", len(got), len(want))
	}
}
