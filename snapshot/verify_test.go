package snapshot

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/carillon-io/carillon/job"
)

// TestVerifyReadsEveryBlock: whichever byte of a table of a store on the disk is flipped, Verify names the table and still knows
// the position. An open store that reads a damaged block fails with the same damage, whatever the read.
func TestVerifyReadsEveryBlock(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	s := mustOpen(t, Options{Dir: dir})
	var b job.Batch
	for id := range job.ID(5000) {
		b.PutTimer(id, job.Timer{Cursor: 1, Last: 1})
	}
	mustApply(t, s, 1, b.Bytes())
	mustClose(t, s)
	if at, err := Verify(dir); at != position(1) || err != nil {
		t.Fatalf("an intact store: %v, %v", at, err)
	}
	tables, err := filepath.Glob(filepath.Join(dir, "*"+tableSuffix))
	if err != nil || len(tables) != 1 {
		t.Fatalf("tables %v, %v; want one", tables, err)
	}
	whole, err := os.ReadFile(tables[0])
	if err != nil {
		t.Fatal(err)
	}
	found, silent := 0, 0
	for i := range 40 {
		spoilt := append([]byte(nil), whole...)
		spoilt[len(whole)*(2*i+1)/80] ^= 1 << (i % 8)
		if err := os.WriteFile(tables[0], spoilt, 0o600); err != nil {
			t.Fatal(err)
		}
		at, err := Verify(dir)
		damage := (*DamageError)(nil)
		if !errors.As(err, &damage) || damage.Dir != dir || damage.File != filepath.Base(tables[0]) {
			t.Fatalf("flip %d: %v; want damage of the table", i, err)
		}
		if _, err := Inspect(dir); err == nil {
			silent++
			if at != position(1) {
				t.Errorf("flip %d: the store is at %v", i, at)
			}
		}
		found++
	}
	if silent < found/2 {
		t.Errorf("Inspect found all but %d of %d; the flips are not in the blocks with the rows", silent, found)
	}
}

// TestDamagedBlockEndsTheStore: each read of a damaged block names the file, and ends the store.
func TestDamagedBlockEndsTheStore(t *testing.T) {
	for name, read := range map[string]func(s *Store) error{
		"get": func(s *Store) (err error) {
			for id := job.ID(0); id < 5000 && err == nil; id++ {
				_, _, err = s.Get(timerKey(id))
			}
			return err
		},
		"scan": func(s *Store) error {
			return s.Scan(nil, nil, func(_, _ []byte) (bool, error) { return true, nil })
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir, o := filepath.Join(t.TempDir(), "store"), newOwner()
			s := mustOpen(t, Options{Dir: dir})
			var b job.Batch
			for id := range job.ID(5000) {
				b.PutTimer(id, job.Timer{Cursor: 1, Last: 1})
			}
			mustApply(t, s, 1, b.Bytes())
			mustClose(t, s)
			spoilTable(t, dir)
			s = mustOpen(t, Options{Dir: dir, OnFatal: o.tell})
			for _, err := range []error{read(s), <-o.told} {
				damage := (*DamageError)(nil)
				if !errors.As(err, &damage) || !damage.Opened || damage.Dir != dir || filepath.Ext(damage.File) != tableSuffix {
					t.Errorf("got %v; want the damage of the table", err)
				}
			}
			if err := s.Apply(position(2), timerBatch(1)); !errors.Is(err, ErrFailed) {
				t.Errorf("apply: %v", err)
			}
			_ = s.Close()
		})
	}
}

// spoilTable flips a bit in the middle of the only table of a store.
func spoilTable(t *testing.T, dir string) {
	t.Helper()
	tables, err := filepath.Glob(filepath.Join(dir, "*"+tableSuffix))
	if err != nil || len(tables) != 1 {
		t.Fatalf("tables %v, %v; want one", tables, err)
	}
	b, err := os.ReadFile(tables[0])
	if err != nil {
		t.Fatal(err)
	}
	b[len(b)/2] ^= 0x10
	if err := os.WriteFile(tables[0], b, 0o600); err != nil {
		t.Fatal(err)
	}
}
