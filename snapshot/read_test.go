package snapshot

import (
	"bytes"
	"errors"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/testkit"
)

// TestReadsEqualTwin compares Get and Scan with the slow twin, over keys and ranges that are there,
// that are not, and that begin and end in between.
func TestReadsEqualTwin(t *testing.T) { seeds(t, 1, readStore) }

func readStore(t *testing.T, seed uint64) {
	testkit.NotUnderRace(t, "one goroutine writes and reads")
	rng := rand.New(rand.NewPCG(seed, 4))
	s := mustOpen(t, testOptions(vfs.NewMem()))
	defer mustClose(t, s)
	var w twin
	for range 20 {
		for range 20 {
			w.add(t, s, randomBatch(rng))
		}
		rows := w.rows(w.last())
		keys := slices.Sorted(maps.Keys(rows))
		for range 50 {
			checkGet(t, s, rows, randomKey(rng, keys))
			checkScan(t, s, keys, randomKey(rng, keys), randomKey(rng, keys))
		}
		checkScan(t, s, keys, nil, nil)
	}
}

// randomKey returns a key, or one beside it, or nil.
func randomKey(rng *rand.Rand, keys []string) []byte {
	key := []byte(keys[rng.IntN(len(keys))])
	switch rng.IntN(5) {
	case 0:
		key[len(key)-1]++
	case 1:
		key = append(key, 0)
	case 2:
		if rng.IntN(5) == 0 {
			return nil
		}
		key = key[:1+rng.IntN(len(key))]
	}
	return key
}

func checkGet(t *testing.T, s *Store, rows map[string]string, key []byte) {
	t.Helper()
	want, exists := rows[string(key)]
	value, ok, err := s.Get(key)
	if err != nil || ok != exists || string(value) != want || (value == nil) == ok {
		t.Fatalf("get %x: %x %t %v, want %x %t", key, value, ok, err, want, exists)
	}
}

func checkScan(t *testing.T, s *Store, keys []string, low, high []byte) {
	t.Helper()
	var want, got []string
	for _, k := range keys {
		if k >= string(low) && (high == nil || k < string(high)) {
			want = append(want, k)
		}
	}
	err := s.Scan(low, high, func(key, _ []byte) (bool, error) {
		got = append(got, string(key))
		return true, nil
	})
	if err != nil || !slices.Equal(got, want) {
		t.Fatalf("scan [%x, %x): %d rows, %v, want %d", low, high, len(got), err, len(want))
	}
}

func TestScanEnds(t *testing.T) {
	s := mustOpen(t, testOptions(vfs.NewMem()))
	defer mustClose(t, s)
	for id := range job.ID(10) {
		mustApply(t, s, uint64(id)+1, timerBatch(id))
	}
	seen := 0
	err := s.Scan(nil, nil, func(_, _ []byte) (bool, error) { seen++; return seen < 3, nil })
	if err != nil || seen != 3 {
		t.Errorf("asked for no more than 3 rows, got %d, %v", seen, err)
	}
	enough := errors.New("enough")
	err = s.Scan(nil, nil, func(_, _ []byte) (bool, error) { seen++; return true, enough })
	if err != enough || seen != 4 {
		t.Errorf("an error at row 4: %d rows, %v", seen, err)
	}
}

// TestScanIsOneMoment: what is applied during a scan is not in it, though a Get sees it.
func TestScanIsOneMoment(t *testing.T) {
	s := mustOpen(t, testOptions(vfs.NewMem()))
	defer mustClose(t, s)
	mustApply(t, s, 1, timerBatch(1))
	seen := 0
	err := s.Scan(nil, nil, func(key, _ []byte) (bool, error) {
		seen++
		mustApply(t, s, 2, timerBatch(2))
		_, ok, err := s.Get(timerKey(2))
		return ok, err
	})
	if err != nil || seen != 1 {
		t.Errorf("%d rows, %v", seen, err)
	}
}

// TestGetCopies: the value of a Get is the caller's.
func TestGetCopies(t *testing.T) {
	s := mustOpen(t, testOptions(vfs.NewMem()))
	defer mustClose(t, s)
	mustApply(t, s, 1, timerBatch(1))
	first, _, err := s.Get(timerKey(1))
	if err != nil {
		t.Fatal(err)
	}
	want := bytes.Clone(first)
	clear(first)
	second, ok, err := s.Get(timerKey(1))
	if err != nil || !ok || !bytes.Equal(second, want) {
		t.Errorf("%x %t %v, want %x", second, ok, err, want)
	}
}

func TestEmptyValue(t *testing.T) {
	s := mustOpen(t, testOptions(vfs.NewMem()))
	defer mustClose(t, s)
	var b job.Batch
	key := job.AppendMetaKey(nil, "empty")
	b.Put(key, nil)
	mustApply(t, s, 1, b.Bytes())
	if value, ok, err := s.Get(key); value == nil || len(value) > 0 || !ok || err != nil {
		t.Errorf("%x %t %v", value, ok, err)
	}
}
