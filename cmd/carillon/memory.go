package main

import (
	"context"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

// The pace of the garbage collector. Nearly all memory that a server holds has no pointers, and the garbage comes from
// requests, so a collection costs about the same whatever the amount of garbage. Therefore a server of medium size lets a
// fixed amount accumulate (garbageBytes), a small one a multiple of its live bytes, and a large one a share of them.
const (
	// More costs memory, less costs collections.
	garbageBytes = 192 << 20
	// Below 48 MiB of live bytes the garbage is four times these; from 384 MiB on it is half of them. Both follow
	// from garbageBytes.
	gcPercentMost  = 400
	gcPercentLeast = 50
)

// gcPercent returns how much garbage may accumulate before a collection, in percent of the live bytes.
func gcPercent(live uint64) int {
	if live == 0 {
		return gcPercentMost
	}
	return int(min(max(garbageBytes*100/live, gcPercentLeast), gcPercentMost))
}

const (
	// Two readings of the runtime a second cost nothing that a measurement shows.
	memoryCheckEvery = time.Second
	// A server is quiet if it allocates at most quietBytes between two checks, quietChecks times in a row. A server that
	// fires a few hundred runs a second is not quiet: returning memory to the system would delay some of them.
	quietBytes  = 1 << 20
	quietChecks = 3
	// looseBytesMin is the least amount of garbage that is worth an extra collection.
	looseBytesMin = 32 << 20
)

// memoryKeeper sets the pace of the garbage collector, and returns memory to the system soon after a load has ended:
// the runtime alone keeps it for minutes. It is a value machine: check gets readings and returns what to do, so that
// tests need neither time nor memory. For one goroutine.
type memoryKeeper struct {
	// percent is what was set last; 0 before the first check.
	percent   int
	allocated uint64 // at the last check
	released  uint64 // value of allocated when memory was last returned to the system
	quiet     int    // number of checks in a row that found the server quiet
}

// memory is what the runtime reports about the heap. Both are metrics of the runtime that cost next to nothing to
// read. allocated only grows; what was freed is not subtracted.
type memory struct {
	live      uint64 // bytes that the last collection left
	allocated uint64 // bytes since the start of the process
}

// keepMemory runs a memoryKeeper until ctx ends. It leaves the pace alone if GOGC is set.
func keepMemory(ctx context.Context) {
	var k memoryKeeper
	isPaced := isSet("GOGC")
	ticker := time.NewTicker(memoryCheckEvery)
	defer ticker.Stop()
	for {
		percent := k.percent
		// The first check is made at once, so that the pace is right while the server loads its jobs.
		isLoose := k.check(readMemory())
		if k.percent != percent && !isPaced {
			debug.SetGCPercent(k.percent)
		}
		if isLoose {
			debug.FreeOSMemory()
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// check sets the pace, and reports whether memory should be returned to the system. It is called once in
// memoryCheckEvery. Returning memory costs a whole collection, which is why only a quiet server does it, once for what
// was allocated since the last time.
func (k *memoryKeeper) check(m memory) (isLoose bool) {
	k.percent = gcPercent(m.live)
	if m.allocated-k.allocated > quietBytes {
		k.quiet = 0
	} else {
		k.quiet++
	}
	k.allocated = m.allocated
	// At most what was allocated since the last return can be garbage.
	if k.quiet < quietChecks || m.allocated-k.released < max(looseBytesMin, m.live/8) {
		return false
	}
	k.released = m.allocated
	return true
}

// readMemory reads the metrics of the runtime. Neither of them stops the world, unlike runtime.ReadMemStats.
func readMemory() memory {
	s := []metrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(s)
	return memory{live: s[0].Value.Uint64(), allocated: s[1].Value.Uint64()}
}
