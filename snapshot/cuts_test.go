package snapshot

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/carillon-io/carillon/job"
)

// TestCuts: keys are cut into parts of about the same number of rows, whether they are numbers or names, of one tenant or
// of many; and no row is lost between two parts.
func TestCuts(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for name, key := range map[string]func(n int) []byte{
		"numbers": func(n int) []byte {
			return binary.BigEndian.AppendUint64([]byte{9}, 3_909_768_645_445_901_824+uint64(n)<<8)
		},
		"names":   func(n int) []byte { return fmt.Appendf([]byte{9}, "default\x00order/%09d", n) },
		"tenants": func(n int) []byte { return fmt.Appendf([]byte{9}, "tenant-%d\x00%x", n%7, n*7919) },
	} {
		t.Run(name, func(t *testing.T) {
			const rows = 200_000
			s := mustOpen(t, Options{Dir: t.TempDir()})
			defer mustClose(t, s)
			var b job.Batch
			value := make([]byte, 20)
			for n := range rows {
				binary.LittleEndian.PutUint64(value, rng.Uint64())
				binary.LittleEndian.PutUint64(value[8:], rng.Uint64())
				if b.Put(key(n), value); b.Len() == 10_000 {
					mustApply(t, s, s.Applied().LSN+1, b.Bytes())
					b.Reset()
				}
			}
			if _, err := s.Checkpoint(context.Background()); err != nil {
				t.Fatal(err)
			}
			checkCuts(t, s, rows)
		})
	}
}

// checkCuts scans the parts of a store, and compares their sizes.
func checkCuts(t *testing.T, s *Store, rows int) {
	t.Helper()
	cuts, err := s.Cuts([]byte{9}, []byte{10})
	if err != nil {
		t.Fatal(err)
	}
	if len(cuts) < 5 || !slices.IsSortedFunc(cuts, bytes.Compare) {
		t.Fatalf("cuts %x", cuts)
	}
	low, seen, most := []byte{9}, 0, 0
	for _, high := range append(cuts, []byte{10}) {
		n := 0
		err := s.Scan(low, high, func(_, _ []byte) (bool, error) { n++; return true, nil })
		if err != nil {
			t.Fatal(err)
		}
		low, seen, most = high, seen+n, max(most, n)
	}
	if seen != rows || most > 3*rows/len(cuts) {
		t.Errorf("%d of %d rows in %d parts, of which the largest has %d", seen, rows, len(cuts)+1, most)
	}
}

// TestCutsOfFewRows: a range that is empty, or has little in files, is one part.
func TestCutsOfFewRows(t *testing.T) {
	s := mustOpen(t, Options{Dir: t.TempDir()})
	defer mustClose(t, s)
	for range 2 {
		if cuts, err := s.Cuts([]byte{9}, []byte{10}); err != nil || cuts != nil {
			t.Errorf("cuts %x, %v", cuts, err)
		}
		var b job.Batch
		b.Put([]byte{9, 1}, []byte{1})
		b.Put([]byte{9, 2}, []byte{1})
		mustApply(t, s, s.Applied().LSN+1, b.Bytes())
	}
}
