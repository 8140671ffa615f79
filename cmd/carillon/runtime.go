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

// procsMin is the least GOMAXPROCS of a server. It matters on few cores. A goroutine that is busy keeps its P for up to ten
// milliseconds, and a burst of requests keeps about a dozen busy: with fewer Ps, what a launch wakes waits for them one after
// the other. With more, each has a thread, and the kernel lets a thread that wakes go first. tuneRuntime has the reason for
// more Ps than cores.
const procsMin = 16

// memoryShare is the share of a container's memory limit that the Go heap may use. The rest is for what that limit
// does not cover and the container counts, such as the stacks of threads.
const memoryShare = 0.9

// tuneRuntime configures the Go runtime for a server, except what the environment sets, and adjusts it until ctx ends.
//
// The scheduler's tick has an operating system thread of its own, which needs a free P of the Go runtime when it
// wakes. With more Ps than cores a P is free, and the kernel shares the cores out. With as many Ps as cores, the tick
// waits for busy goroutines, for tens of milliseconds.
//
// The memory limit makes the collector work harder before the kernel kills the container for its memory. A variable
// that is set wins, since an operator who sets one has a reason. It is called once, by the commands that run a server,
// which close ready when the server is ready.
func tuneRuntime(ctx context.Context, logger *slog.Logger, ready <-chan struct{}) {
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
	go keepMemory(ctx, ready)
}

// containerMemory returns the memory limit of this process's control group in bytes; 0 if there is none. It reads
// version 2 of control groups first, then version 1. On a machine without them there is no limit.
func containerMemory() int64 {
	for _, path := range []string{"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"} {
		text, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		limit, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
		if err == nil && limit < 1<<50 { // the kernel shows "no limit" as a larger number
			return limit
		}
	}
	return 0
}
