package storetest

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"

	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/testkit"
)

// likeMap applies random commits to the store and to a map, and compares all rows.
func likeMap(b *bed) {
	const commits, keys = 300, 400
	rng := rand.New(rand.NewPCG(testkit.Seed(b.t), 0))
	key := func() string { return fmt.Sprintf("%03d", rng.IntN(keys)) }
	twin := make(map[string]string)
	for range commits {
		b.commit(func(batch *job.Batch) {
			for range rng.IntN(20) {
				k := key()
				switch rng.IntN(10) {
				case 0:
					high := key()
					batch.DeleteRange(row(k), row(high))
					maps.DeleteFunc(twin, func(have, _ string) bool { return k <= have && have < high })
				case 1, 2:
					batch.Delete(row(k))
					delete(twin, k)
				default:
					twin[k] = fmt.Sprint(rng.Uint32())
					batch.Put(row(k), []byte(twin[k]))
				}
			}
		})
		low, high := key(), key()
		var want bytes.Buffer
		for _, k := range slices.Sorted(maps.Keys(twin)) {
			if low <= k && k < high {
				fmt.Fprintf(&want, "%s=%s ", k, twin[k])
			}
		}
		if got := b.rows(low, high); got != want.String() {
			b.t.Fatalf("from %s to %s: %s\nwant %s", low, high, got, &want)
		}
		k := key()
		if v, ok, err := b.Get(row(k)); string(v) != twin[k] || ok != (twin[k] != "") || err != nil {
			b.t.Fatalf("%s is %q, %v, %v; want %q", k, v, ok, err, twin[k])
		}
	}
}

// readWhileWritten scans and gets while another goroutine applies commits. Rows that no commit touches are there all the time,
// and each scan is in order.
func readWhileWritten(b *bed) {
	b.put("a", "m", "z")
	var readers sync.WaitGroup
	done := make(chan struct{})
	for range 2 {
		readers.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
					b.readOnce()
				}
			}
		})
	}
	for n := range 300 {
		b.commit(func(batch *job.Batch) {
			batch.Put(row(fmt.Sprintf("b%03d", n)), nil)
			batch.DeleteRange(row("b"), row(fmt.Sprintf("b%03d", n-5)))
		})
	}
	close(done)
	readers.Wait()
}

// readOnce checks what a reader sees at any time.
func (b *bed) readOnce() {
	var last string
	kept := 0
	err := b.Scan(row("a"), nil, func(k, v []byte) (bool, error) {
		if string(k) <= last {
			b.t.Errorf("%s comes after %s", k, last)
		}
		if last = string(k); bytes.Equal(k[1:], v) {
			kept++
		}
		return true, nil
	})
	if err != nil || kept != 3 {
		b.t.Errorf("a scan saw %d of 3 rows: %v", kept, err)
	}
	if v, ok, err := b.Get(row("m")); string(v) != "m" || !ok || err != nil {
		b.t.Errorf("m is %q, %v, %v", v, ok, err)
	}
	b.Applied()
}
