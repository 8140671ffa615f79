package main

import (
	"context"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

// The pace of the garbage collector. Nearly all that a server holds has no pointers, and what it
// collects is the litter of requests, so a collection costs about the same however much litter there
// is. That is why a server of middle size lets a fixed amount gather, a small one a multiple of what it
// holds, and a large one a share.
const (
	garbageBytes   = 192 << 20
	gcPercentMost  = 400
	gcPercentLeast = 50
)

// gcPercent returns how much garbage may gather, in percent of the live bytes.
func gcPercent(live uint64) int {
	if live == 0 {
		return gcPercentMost
	}
	return int(min(max(garbageBytes*100/live, gcPercentLeast), gcPercentMost))
}

const (
	memoryCheckEvery = time.Second
	// A server is quiet if it allocates less than quietBytes in each of so many checks. One that fires
	// a few hundred runs a second is not: what giving memory back takes would make some of them late.
	quietBytes  = 1 << 20
	quietChecks = 3
	// looseBytesMin is how much litter is worth a collection of its own.
	looseBytesMin = 32 << 20
)

// memoryKeeper paces the garbage collector, and gives the memory of a load that is over back to the
// system: left alone, the runtime keeps it for minutes.
type memoryKeeper struct {
	percent   int
	allocated uint64 // at the last check
	released  uint64 // bytes that had been allocated when memory was given back last
	quiet     int    // checks
}

// memory is what the runtime tells of its own.
type memory struct {
	live      uint64 // bytes that the last collection left
	allocated uint64 // bytes since the start of the process
}

// keepMemory works until ctx ends.
func keepMemory(ctx context.Context) {
	var k memoryKeeper
	isPaced := isSet("GOGC")
	ticker := time.NewTicker(memoryCheckEvery)
	defer ticker.Stop()
	for {
		percent := k.percent
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

// check sets the pace, and tells whether memory is to be given back.
func (k *memoryKeeper) check(m memory) (isLoose bool) {
	k.percent = gcPercent(m.live)
	if m.allocated-k.allocated > quietBytes {
		k.quiet = 0
	} else {
		k.quiet++
	}
	k.allocated = m.allocated
	// What was allocated since is the most that can be found.
	if k.quiet < quietChecks || m.allocated-k.released < max(looseBytesMin, m.live/8) {
		return false
	}
	k.released = m.allocated
	return true
}

func readMemory() memory {
	s := []metrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(s)
	return memory{live: s[0].Value.Uint64(), allocated: s[1].Value.Uint64()}
}
