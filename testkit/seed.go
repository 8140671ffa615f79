// Package testkit holds what the tests of several packages share. Product code does not import it.
package testkit

import (
	"hash/fnv"
	"io"
	"math/rand/v2"
	"os"
	"strconv"
	"sync"
	"testing"
)

// seedVariable is the environment variable that fixes the seeds of random tests.
const seedVariable = "CARILLON_SEED"

// drawn counts the seeds that each test has drawn, by its name.
var drawn struct {
	sync.Mutex
	count map[string]int
}

// Seed returns a seed for one run of a random test, and logs it if the test fails. The seeds are random; with the
// environment variable CARILLON_SEED set, the nth seed of a test depends only on the variable, the test's name and n, so that
// what passed once passes again. Safe for concurrent use.
func Seed(t testing.TB) uint64 {
	t.Helper()
	seed := rand.Uint64()
	if base := os.Getenv(seedVariable); base != "" {
		seed = fixedSeed(base, t.Name(), nth(t.Name()))
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("%s drew the seed %d", t.Name(), seed)
		}
	})
	return seed
}

// nth counts a draw, and returns how many the test had made before.
func nth(test string) int {
	drawn.Lock()
	defer drawn.Unlock()
	if drawn.count == nil {
		drawn.count = make(map[string]int)
	}
	n := drawn.count[test]
	drawn.count[test]++
	return n
}

func fixedSeed(base, test string, n int) uint64 {
	h := fnv.New64a()
	io.WriteString(h, base+"\x00"+test+"\x00"+strconv.Itoa(n)) // a hash takes every write
	return h.Sum64() | 1                                       // 0 means "draw one" to the flags of some tests
}
