package snapshot

import (
	"errors"
	"path/filepath"
	"testing"
	"testing/synctest"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/carillon-io/carillon/job"
)

// TestCloseAfterDamage: a store in which a read has found damage is closed, and its directory can be opened again, although changes
// of the directory have met the damage and wait: a flush of Pebble, and the removal of an obsolete file.
func TestCloseAfterDamage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		mem := vfs.NewMem()
		s := mustOpen(t, testOptions(mem))
		var b job.Batch
		for id := range job.ID(2000) {
			b.PutTimer(id, job.Timer{Cursor: 1, Last: 1})
		}
		mustApply(t, s, 1, b.Bytes())
		mustClose(t, s)
		s = mustOpen(t, testOptions(mem))
		mustApply(t, s, 2, timerBatch(1))
		damageTables(t, mem)
		if err := s.Scan(nil, nil, func(_, _ []byte) (bool, error) { return true, nil }); err == nil {
			t.Fatal("damaged rows were read")
		}
		if _, err := s.db.AsyncFlush(); err != nil {
			t.Fatal(err)
		}
		removed := make(chan error, 1)
		go func() { removed <- guardedFS{mem, s.fault}.Remove(filepath.Join(testDir, "000001.log")) }()
		synctest.Wait()
		select {
		case err := <-removed:
			t.Fatalf("the directory was changed after damage: %v", err)
		default:
		}
		if err := s.Close(); !errors.Is(err, ErrFailed) {
			t.Errorf("close: %v", err)
		}
		<-removed
		again, err := Open(testOptions(mem))
		if damage := (*DamageError)(nil); err != nil && !errors.As(err, &damage) {
			t.Errorf("opened again: %v", err)
		}
		if err == nil {
			mustClose(t, again)
		}
	})
}
