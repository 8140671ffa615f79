package measure

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// Machine describes the machine on which figures were measured. A field of text is "unknown" if it cannot be read. It
// goes into the JSON of every result, since figures of different machines must not be compared by mistake.
type Machine struct {
	Time       string `json:"time"` // RFC 3339, UTC
	CPU        string `json:"cpu"`
	Cores      int    `json:"cores"`
	Memory     string `json:"memory"`
	System     string `json:"system"` // with the release of the kernel
	FileSystem string `json:"file_system"`
	Go         string `json:"go"`
}

// Describe returns a description of this machine, with the file system of a directory.
func Describe(dir string) Machine {
	m := Machine{
		Time: time.Now().UTC().Format(time.RFC3339), Cores: runtime.NumCPU(),
		CPU: Field("/proc/cpuinfo", "model name"), Memory: Field("/proc/meminfo", "MemTotal"),
		System: runtime.GOOS + "/" + runtime.GOARCH, FileSystem: fileSystem(dir), Go: runtime.Version(),
	}
	if release, err := os.ReadFile("/proc/sys/kernel/osrelease"); err == nil {
		m.System += " " + strings.TrimSpace(string(release))
	}
	return m
}

// Field returns the value of a name in a text file of "name: value" lines; "unknown" if it is missing. The first line
// with the name counts: /proc/cpuinfo has one for each core.
func Field(path, name string) string {
	text, err := os.ReadFile(path)
	if err != nil {
		return "unknown"
	}
	for line := range strings.Lines(string(text)) {
		if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == name {
			return strings.TrimSpace(value)
		}
	}
	return "unknown"
}

// FsyncProbes is the number of appends that Fsync makes; each has 4 KiB. Enough for a p99, and a few seconds on a slow
// disk.
const FsyncProbes = 400

// The size of a page: a small commit costs as much.
const fsyncBytes = 4096

// Fsync returns the times of FsyncProbes appends to a file in a directory, each with its fsync, in the order in which
// they were made. It removes the file. It appends rather than overwrites, because a log does: each sync also makes the
// new length durable.
func Fsync(dir string) ([]time.Duration, error) {
	file, err := os.Create(filepath.Join(dir, "fsync"))
	if err != nil {
		return nil, err
	}
	defer os.Remove(file.Name())
	defer file.Close()
	block := make([]byte, fsyncBytes)
	var all []time.Duration
	for range FsyncProbes {
		// The write is part of it: together they are what a commit waits for.
		began := time.Now()
		if _, err := file.Write(block); err != nil {
			return nil, err
		}
		if err := file.Sync(); err != nil {
			return nil, err
		}
		all = append(all, time.Since(began))
	}
	return all, nil
}
