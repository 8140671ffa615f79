package main

import (
	"context"
	"runtime"
	"testing"
)

// TestMemoryIsGivenBackOnce loads a server, leaves it idle and loads it again.
func TestMemoryIsGivenBackOnce(t *testing.T) {
	const mib = 1 << 20
	var k memoryKeeper
	allocated := uint64(0)
	check := func(live, allocates uint64, want bool) {
		t.Helper()
		allocated += allocates
		if got := k.check(memory{live: live * mib, allocated: allocated}); got != want {
			t.Errorf("with %d MiB alive and %d bytes more allocated: %t", live, allocates, got)
		}
	}
	for range 10 { // the load
		check(200, 300*mib, false)
	}
	check(200, mib, false)
	check(200, mib, false)
	check(200, mib, true)
	for range 10 { // there is no garbage left
		check(200, mib, false)
	}
	check(200, 100*mib, false)
	check(200, 0, false)
	check(200, 0, false)
	check(200, 0, true)
	portions := 0
	for range 100 { // the garbage of a trickle is returned too, in larger portions
		allocated += mib / 2
		if k.check(memory{live: 200 * mib, allocated: allocated}) {
			portions++
		}
	}
	if portions != 1 {
		t.Errorf("50 MiB of a trickle were given back in %d portions, want 1 of at least 32", portions)
	}
}

func TestPaceOfCollections(t *testing.T) {
	for _, c := range []struct {
		live uint64
		want int
	}{{0, 300}, {10 << 20, 300}, {28 << 20, 200}, {56 << 20, 100}, {112 << 20, 50}, {4 << 30, 50}} {
		if got := gcPercent(c.live, false); got != c.want {
			t.Errorf("with %d bytes alive: %d %%, want %d", c.live, got, c.want)
		}
		if got := gcPercent(c.live, true); got != 300 {
			t.Errorf("with %d bytes alive, during a start: %d %%, want 300", c.live, got)
		}
	}
}

// TestPaceFollowsTheLiveBytes: the percentage that is right for a small server is replaced as soon as it is a larger one.
func TestPaceFollowsTheLiveBytes(t *testing.T) {
	var k memoryKeeper
	for _, c := range []struct {
		live uint64
		want bool
	}{{30 << 20, true}, {30 << 20, false}, {100 << 20, true}} {
		if got := k.pace(c.live); got != c.want || uint64(k.percent)*c.live/100 > garbageBytes {
			t.Errorf("with %d bytes alive: new %t, %d %%; want new %t, and at most %d bytes of garbage", c.live, got, k.percent, c.want, garbageBytes)
		}
	}
}

// TestEachCollectionIsNoticed: also those after the first one.
func TestEachCollectionIsNoticed(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	collected := collections(ctx)
	for range 3 {
		runtime.GC()
		<-collected
	}
}
