package measure

import (
	"os"
	"strconv"
	"strings"
	"time"
)

// ProcTick is the unit of processor time in /proc, on every Linux.
const ProcTick = 10 * time.Millisecond

// Busy returns the processor time that the whole machine has spent since it started, without idle time and waiting for
// I/O. It is 0 where there is no /proc. The difference of two readings is what counts. Guest time is contained in user
// time, and so is not added.
func Busy() time.Duration {
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0
	}
	first, _, _ := strings.Cut(string(text), "\n")
	fields := strings.Fields(first) // cpu user nice system idle iowait irq softirq steal …
	if len(fields) < 9 {
		return 0
	}
	return SumTicks(fields[1:4]) + SumTicks(fields[6:9])
}

// SumTicks returns the sum of some decimal numbers of ticks, as /proc writes them. What is no number counts as 0.
func SumTicks(fields []string) time.Duration {
	var sum time.Duration
	for _, f := range fields {
		n, _ := strconv.ParseInt(f, 10, 64)
		sum += time.Duration(n) * ProcTick
	}
	return sum
}
