// Package storetest is the conformance suite for stores: tests of what the scheduler needs of each. Pebble and the store in
// memory pass it; another store that takes their place should pass it too.
package storetest

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	"github.com/carillon-io/carillon/job"
)

// Store is the interface that the suite tests; scheduler.Store says what its methods promise.
type Store interface {
	Apply(at job.Position, batch []byte) error
	Applied() job.Position
	Get(key []byte) (value []byte, ok bool, err error)
	Scan(low, high []byte, fn func(key, value []byte) (more bool, err error)) error
}

// Run tests the stores that open makes, a new and empty one for each test. open registers its clean-up with t.Cleanup.
func Run(t *testing.T, open func(t *testing.T) Store) {
	tests := []struct {
		name string
		test func(b *bed)
	}{
		{"is empty at first", startsEmpty},
		{"has the rows and the position of a commit", appliesCommits},
		{"applies the changes of a commit in order", keepsOrder},
		{"deletes a range without its end", deletesRanges},
		{"ignores an empty range", ignoresEmptyRanges},
		{"does not keep the batch", copiesBatches},
		{"returns copies of values", copiesValues},
		{"scans between bounds, in order", scansBetween},
		{"ends a scan when it is told to", endsScans},
		{"refuses a malformed batch", refusesDamage},
		{"answers like a map", likeMap},
		{"is read while it is written", readWhileWritten},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) { tc.test(&bed{t: t, Store: open(t)}) })
	}
}

// row returns the key of a row of some kind, as stores check the kind.
func row(name string) []byte { return append([]byte{byte(job.KindJob)}, name...) }

// bed is a store under test, and the number of its last commit.
type bed struct {
	Store
	t   *testing.T
	lsn uint64
}

// commit applies a batch as the next commit.
func (b *bed) commit(write func(*job.Batch)) {
	b.t.Helper()
	var batch job.Batch
	write(&batch)
	b.lsn++
	if err := b.Apply(b.at(), batch.Bytes()); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bed) at() job.Position { return job.Position{LSN: b.lsn, Epoch: 1} }

// put puts some keys, each with itself as its value.
func (b *bed) put(keys ...string) {
	b.t.Helper()
	b.commit(func(batch *job.Batch) {
		for _, k := range keys {
			batch.Put(row(k), []byte(k))
		}
	})
}

// rows returns the rows of a scan as one text.
func (b *bed) rows(low, high string) string {
	b.t.Helper()
	var end []byte
	if high != "" {
		end = row(high)
	}
	var out bytes.Buffer
	err := b.Scan(row(low), end, func(k, v []byte) (bool, error) {
		fmt.Fprintf(&out, "%s=%s ", k[1:], v)
		return true, nil
	})
	if err != nil {
		b.t.Fatal(err)
	}
	return out.String()
}

// has checks all rows.
func (b *bed) has(want string) {
	b.t.Helper()
	if got := b.rows("", ""); got != want {
		b.t.Errorf("the store has %q, want %q", got, want)
	}
}

func startsEmpty(b *bed) {
	b.has("")
	if v, ok, err := b.Get(row("a")); v != nil || ok || err != nil {
		b.t.Errorf("got %q, %v, %v", v, ok, err)
	}
	if at := b.Applied(); at != (job.Position{}) {
		b.t.Errorf("the position is %v", at)
	}
}

func appliesCommits(b *bed) {
	b.put("a", "b")
	b.commit(func(batch *job.Batch) {
		batch.Put(row("b"), nil)
		batch.Delete(row("a"))
		batch.Delete(row("none"))
	})
	b.has("b= ")
	if v, ok, err := b.Get(row("b")); len(v) != 0 || !ok || err != nil {
		b.t.Errorf("an empty value is %q, %v, %v", v, ok, err)
	}
	if b.Applied() != b.at() {
		b.t.Errorf("the position is %v, want %v", b.Applied(), b.at())
	}
}

func keepsOrder(b *bed) {
	b.commit(func(batch *job.Batch) {
		batch.Put(row("a"), []byte("1"))
		batch.Put(row("b"), []byte("1"))
		batch.DeleteRange(row("a"), row("c"))
		batch.Put(row("a"), []byte("2"))
		batch.Put(row("a"), []byte("3"))
	})
	b.has("a=3 ")
}

func deletesRanges(b *bed) {
	b.put("a", "b", "ba", "c", "d")
	b.commit(func(batch *job.Batch) { batch.DeleteRange(row("b"), row("c")) })
	b.has("a=a c=c d=d ")
}

func ignoresEmptyRanges(b *bed) {
	b.put("a", "b", "c")
	b.commit(func(batch *job.Batch) {
		batch.DeleteRange(row("c"), row("a"))
		batch.DeleteRange(row("b"), row("b"))
	})
	b.has("a=a b=b c=c ")
}

func copiesBatches(b *bed) {
	var batch job.Batch
	batch.Put(row("key"), []byte("value"))
	if err := b.Apply(job.Position{LSN: 1, Epoch: 1}, batch.Bytes()); err != nil {
		b.t.Fatal(err)
	}
	clear(batch.Bytes())
	b.has("key=value ")
}

func copiesValues(b *bed) {
	b.put("a")
	v, _, err := b.Get(row("a"))
	if err != nil {
		b.t.Fatal(err)
	}
	v[0] = 'x'
	b.has("a=a ")
}

func scansBetween(b *bed) {
	b.put("c", "a", "b\x00", "b", "d")
	for _, c := range []struct{ low, high, want string }{
		{"b", "d", "b=b b\x00=b\x00 c=c "}, {"bb", "c", ""}, {"", "b", "a=a "}, {"c", "", "c=c d=d "}, {"c", "a", ""},
	} {
		if got := b.rows(c.low, c.high); got != c.want {
			b.t.Errorf("from %q to %q: %q, want %q", c.low, c.high, got, c.want)
		}
	}
}

func endsScans(b *bed) {
	b.put("a", "b", "c")
	enough := errors.New("enough")
	for _, end := range []error{nil, enough} {
		n := 0
		err := b.Scan(row(""), nil, func([]byte, []byte) (bool, error) { n++; return n < 2 && end == nil, end })
		if !errors.Is(err, end) || end == nil && n != 2 || end != nil && n != 1 {
			b.t.Errorf("to end with %v: %v after %d rows", end, err, n)
		}
	}
}

func refusesDamage(b *bed) {
	b.put("a")
	b.lsn++
	if err := b.Apply(b.at(), []byte{0xff, 0xff, 0xff}); err == nil {
		b.t.Error("a batch that is none was taken")
	}
	b.has("a=a ")
}
