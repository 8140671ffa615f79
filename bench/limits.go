package bench

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/carillon-io/carillon/bench/measure"
)

// The memory and the disk that a job needs during a bulk load, estimated high: the server's memory with
// its garbage, the log and the store before compaction, and the harness's own records.
const (
	// A machine that begins to swap gives figures of its disk.
	memoryPerJob = 600
	diskPerJob   = 800
	reserveBytes = 256 << 20
)

// demand returns an error if the machine does not have enough memory or disk for a number of jobs. Where the system
// does not say what there is, it returns nil. It refuses before anything is started, since a run that ends in swap
// or on a full disk has cost its time for nothing.
func (s *stand) demand(jobs int) error {
	if have, need := availableMemory(), float64(jobs)*memoryPerJob+reserveBytes; have > 0 && need > have {
		return fmt.Errorf("%d jobs need about %.1f GB of memory, %.1f GB are available; want fewer jobs", jobs, need/1e9, have/1e9)
	}
	if have, need := measure.FreeDisk(s.dir), float64(jobs)*diskPerJob+reserveBytes; have > 0 && need > have {
		return fmt.Errorf("%d jobs need about %.1f GB of disk, %s has %.1f GB; want fewer jobs, or --dir elsewhere", jobs, need/1e9, s.dir, have/1e9)
	}
	return nil
}

// availableMemory returns the bytes that a process can allocate without swapping; 0 if the system does
// not say.
func availableMemory() float64 { return kilobytes(measure.Field("/proc/meminfo", "MemAvailable")) }

// writtenBytes returns the bytes that a process has caused to be written to disk; 0 if the system does
// not say. It counts what reached the block layer, so the rewriting by compactions is in it.
func writtenBytes(pid int) float64 {
	n, err := strconv.ParseFloat(strings.TrimSpace(measure.Field("/proc/"+strconv.Itoa(pid)+"/io", "write_bytes")), 64)
	if err != nil {
		return 0
	}
	return n
}
