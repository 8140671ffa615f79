package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/carillon-io/carillon/bench/measure"
)

// family returns a process and its children.
func family(pid int) []int {
	all := []int{pid}
	children, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
	if err != nil {
		return all
	}
	for _, text := range strings.Fields(string(children)) {
		if child, err := strconv.Atoi(text); err == nil {
			all = append(all, child)
		}
	}
	return all
}

// cpuOf returns the processor time of a process, its children, and those of them that have ended.
func cpuOf(pid int) time.Duration {
	var sum time.Duration
	for _, one := range family(pid) {
		sum += cpuOfOne(one)
	}
	return sum
}

// cpuOfOne returns the processor time of a process, and of its children that have ended.
func cpuOfOne(pid int) time.Duration {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0
	}
	return parseStat(string(text))
}

// parseStat sums user and system time of a process and of its ended children.
func parseStat(text string) time.Duration {
	// The name of the process comes first, in parentheses, and may itself hold spaces and parentheses.
	fields := strings.Fields(text[strings.LastIndexByte(text, ')')+1:])
	if len(fields) < 15 {
		return 0
	}
	return measure.SumTicks(fields[11:15])
}

// memoryOf returns the resident bytes of a process and its children; what they share counts once.
func memoryOf(pid int) float64 {
	var sum float64
	for _, one := range family(pid) {
		sum += kilobytes(measure.Field("/proc/"+strconv.Itoa(one)+"/smaps_rollup", "Pss"))
	}
	return sum
}

// kilobytes reads a value such as "1234 kB", and returns it in bytes.
func kilobytes(text string) float64 {
	n, err := strconv.ParseFloat(strings.TrimSuffix(text, " kB"), 64)
	if err != nil {
		return 0
	}
	return n * 1024
}

// diskOf returns how many bytes are allocated to the files of a directory. Files that vanish meanwhile
// count nothing.
func diskOf(dir string) (bytes float64, err error) {
	err = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil || d.IsDir() {
			return err
		}
		if info, err := d.Info(); err == nil {
			bytes += float64(info.Sys().(*syscall.Stat_t).Blocks) * 512
		}
		return nil
	})
	return bytes, err
}
