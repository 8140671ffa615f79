package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

// machine is what the figures were measured on, and with which versions.
type machine struct {
	Time       string            `json:"time"`
	CPU        string            `json:"cpu"`
	Cores      int               `json:"cores"`
	Memory     string            `json:"memory"`
	System     string            `json:"system"`
	FileSystem string            `json:"file_system"`
	Go         string            `json:"go"`
	FsyncP50   float64           `json:"fsync_p50_ms"`
	FsyncP99   float64           `json:"fsync_p99_ms"`
	Versions   map[string]string `json:"versions"`
}

// lookAround describes the machine and measures what an fsync costs in a directory.
func lookAround(dir string) (*machine, error) {
	syncs, err := measureFsync(dir)
	if err != nil {
		return nil, fmt.Errorf("measure fsync: %w", err)
	}
	m := &machine{
		Time: time.Now().UTC().Format(time.RFC3339), Cores: runtime.NumCPU(),
		CPU: field("/proc/cpuinfo", "model name"), Memory: field("/proc/meminfo", "MemTotal"),
		System: runtime.GOOS + "/" + runtime.GOARCH, FileSystem: fileSystem(dir), Go: runtime.Version(),
		Versions: map[string]string{"nats-server": server.VERSION},
	}
	if release, err := os.ReadFile("/proc/sys/kernel/osrelease"); err == nil {
		m.System += " " + strings.TrimSpace(string(release))
	}
	slices.Sort(syncs)
	m.FsyncP50, m.FsyncP99 = millis(syncs.at(50_000)), millis(syncs.at(99_000))
	return m, nil
}

func (m *machine) print(w io.Writer) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "machine\t%s, %d cores, %s\n", m.CPU, m.Cores, m.Memory)
	fmt.Fprintf(t, "system\t%s, %s, %s\n", m.System, m.FileSystem, m.Go)
	fmt.Fprintf(t, "fsync\tp50 %.3f, p99 %.3f ms (append 4 KiB, %d times)\n", m.FsyncP50, m.FsyncP99, fsyncProbes)
	_ = t.Flush()
}

// field reads one field of a text file of "name: value" lines; "unknown" where there is none.
func field(path, name string) string {
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

// The probe of an fsync: so many appends of so many bytes, each made durable.
const (
	fsyncProbes = 400
	fsyncBytes  = 4096
)

func measureFsync(dir string) (samples, error) {
	file, err := os.Create(filepath.Join(dir, "fsync"))
	if err != nil {
		return nil, err
	}
	defer os.Remove(file.Name())
	defer file.Close()
	block := make([]byte, fsyncBytes)
	var all samples
	for range fsyncProbes {
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
