package main

import (
	"context"
	"log/slog"
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
)

// procsMin is the least GOMAXPROCS of a server.
const procsMin = 4

// memoryShare is how much of the memory that a container may have is left to the Go heap.
const memoryShare = 0.9

// tuneRuntime sets the Go runtime up for a server, where the environment does not, and keeps it so until
// ctx ends.
//
// The tick of the scheduler has an operating system thread of its own, which needs a free P when it
// wakes. With more Ps than cores there is one, and the kernel shares the cores out; with as many as
// cores, the tick waits behind whatever goroutines keep them busy, for tens of milliseconds.
//
// The memory limit makes the collector work harder before a container is killed for its memory.
func tuneRuntime(ctx context.Context, logger *slog.Logger) {
	if !isSet("GOMAXPROCS") {
		runtime.GOMAXPROCS(max(procsMin, 2*runtime.GOMAXPROCS(0)))
	}
	if limit := containerMemory(); limit > 0 && !isSet("GOMEMLIMIT") {
		debug.SetMemoryLimit(int64(float64(limit) * memoryShare))
	}
	attrs := []any{slog.Int("gomaxprocs", runtime.GOMAXPROCS(0))}
	if limit := debug.SetMemoryLimit(-1); limit != math.MaxInt64 {
		attrs = append(attrs, slog.Int64("memory_limit_bytes", limit))
	}
	logger.Debug("runtime", attrs...)
	go keepMemory(ctx)
}

// containerMemory returns the memory limit of the control group that is mounted for this process, or
// 0 if there is none.
func containerMemory() int64 {
	for _, path := range []string{"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"} {
		text, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		limit, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
		if err == nil && limit < 1<<50 { // beyond, the kernel means none
			return limit
		}
	}
	return 0
}
