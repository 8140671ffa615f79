package main

import (
	"context"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

// The pace of the garbage collector. Nearly all memory that a server holds has no pointers, and the garbage comes from
// requests, so a collection costs about the same whatever the amount of garbage. Therefore a server of medium size lets a
// fixed amount accumulate (garbageBytes), a small one a multiple of its live bytes, and a large one a share of them.
const (
	// More costs memory, less costs collections. It is most of what the flood of a tenant adds to the memory of a server, which
	// is to stay below 128 MiB.
	garbageBytes = 56 << 20
	// Below 18 MiB of live bytes the garbage is three times these; from 112 MiB on it is half of them. Both follow
	// from garbageBytes.
	gcPercentMost  = 300
	gcPercentLeast = 50
)

// A server that starts makes memory that it keeps, and for each job a quarter to a half of that as garbage: the blocks of
// the store that it has read. So it needs no short pace, and each collection would stop the goroutines that read and search
// for them on the busy cores. It has that of a small server, whatever it has loaded already, until it is ready.

// The runtime wants a percentage, and applies it to what each collection leaves. So the percentage is set after each
// collection: when the live bytes of a server of 30 MiB grew by 100 MiB, the percentage of before would let 400 MiB of
// garbage accumulate.

// gcPercent returns how much garbage may accumulate before a collection, in percent of the live bytes. starts says that
// the server is not ready yet.
func gcPercent(live uint64, starts bool) int {
	if live == 0 || starts {
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
// the runtime alone keeps it for minutes. It is a value machine: its methods get readings and return what to do, so that
// tests need neither time nor memory. For one goroutine.
type memoryKeeper struct {
	// percent is what was set last; 0 before the first pace.
	percent   int
	starts    bool   // the server is not ready yet
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

// keepMemory runs a memoryKeeper until ctx ends. It leaves the pace alone if GOGC is set. The server is ready when ready is
// closed.
func keepMemory(ctx context.Context, ready <-chan struct{}) {
	k := memoryKeeper{starts: true}
	isPaced := isSet("GOGC")
	ticker := time.NewTicker(memoryCheckEvery)
	defer ticker.Stop()
	collected := collections(ctx)
	for { // the first pace is set at once, so that it is right while the server loads its jobs
		if k.pace(readMemory().live) && !isPaced {
			debug.SetGCPercent(k.percent)
		}
		select {
		case <-ctx.Done():
			return
		case <-ready:
			k.starts, ready = false, nil
		case <-collected:
		case <-ticker.C:
			if k.check(readMemory()) {
				debug.FreeOSMemory()
			}
		}
	}
}

// collections returns a channel that receives soon after each collection until ctx ends. Of several before a receive it
// receives once. After each collection an object is left for the next one to free.
func collections(ctx context.Context) <-chan struct{} {
	done := make(chan struct{}, 1)
	var arm func()
	arm = func() {
		if ctx.Err() != nil {
			return
		}
		// Without a pointer in it, the object could share its memory with one that lives longer.
		runtime.AddCleanup(new(struct{ _ *byte }), func(struct{}) {
			select {
			case done <- struct{}{}:
			default:
			}
			arm()
		}, struct{}{})
	}
	arm()
	return done
}

// pace sets percent, and reports whether it is another one.
func (k *memoryKeeper) pace(live uint64) (isNew bool) {
	old := k.percent
	k.percent = gcPercent(live, k.starts)
	return k.percent != old
}

// check reports whether memory should be returned to the system. It is called once in
// memoryCheckEvery. Returning memory costs a whole collection, which is why only a quiet server does it, once for what
// was allocated since the last time.
func (k *memoryKeeper) check(m memory) (isLoose bool) {
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
