package main

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
)

const (
	// timerOwnBytes is what the measuring itself keeps for each timer: deadlines, handles, the log.
	timerOwnBytes = 40

	// collectorFactor is how much larger the heap may be than what is live in it, with the
	// collector's default setting.
	collectorFactor = 2
)

// refuseTooMany returns an error if so many timers do not fit in the memory that is available now. Where
// that cannot be told, all are taken.
func refuseTooMany(n int, contestants []contestant) error {
	available, err := availableMemory()
	if err != nil {
		return nil
	}
	for i := range contestants {
		if need := contestants[i].needBytes(n); need > available {
			const gib = 1 << 30
			return fmt.Errorf("%d timers of %s need about %.1f GiB; %.1f GiB are available",
				n, contestants[i].name, float64(need)/gib, float64(available)/gib)
		}
	}
	return nil
}

// needBytes estimates what a round takes at most. A tenth more are armed than are pending at once.
func (c *contestant) needBytes(n int) int64 {
	return int64(n) * 11 / 10 * int64(collectorFactor*c.sizeBytes+timerOwnBytes)
}

// availableMemory is what can be had without swapping, in bytes.
func availableMemory() (int64, error) {
	text, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return 0, err
	}
	available, ok := availableBytes(string(text))
	if !ok {
		return 0, errors.New("/proc/meminfo does not tell what is available")
	}
	return available, nil
}

// availableBytes reads the available memory from the text of /proc/meminfo.
func availableBytes(meminfo string) (int64, bool) {
	for line := range strings.Lines(meminfo) {
		fields := strings.Fields(line)
		if len(fields) == 3 && fields[0] == "MemAvailable:" && fields[2] == "kB" {
			kib, err := strconv.ParseInt(fields[1], 10, 64)
			return kib << 10, err == nil
		}
	}
	return 0, false
}
