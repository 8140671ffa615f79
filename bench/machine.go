package bench

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"text/tabwriter"
	"time"
)

// machine describes the machine on which the figures were measured.
type machine struct {
	Time       string  `json:"time"`
	CPU        string  `json:"cpu"`
	Cores      int     `json:"cores"`
	Memory     string  `json:"memory"`
	System     string  `json:"system"`
	FileSystem string  `json:"file_system"`
	Go         string  `json:"go"`
	Product    string  `json:"product"`
	FsyncP50   float64 `json:"fsync_p50_ms"`
	FsyncP99   float64 `json:"fsync_p99_ms"`
	FsyncMax   float64 `json:"fsync_max_ms"`
}

// lookAround describes the machine and measures the time of an fsync in a directory.
func lookAround(binary, dir string) (*machine, error) {
	version, err := exec.Command(binary, "version").Output()
	if err != nil {
		return nil, fmt.Errorf("ask %s for its version: %w (make build builds it)", binary, err)
	}
	syncs, err := measureFsync(dir)
	if err != nil {
		return nil, fmt.Errorf("measure fsync: %w", err)
	}
	m := &machine{
		Time: time.Now().UTC().Format(time.RFC3339), Cores: runtime.NumCPU(),
		CPU: field("/proc/cpuinfo", "model name"), Memory: field("/proc/meminfo", "MemTotal"),
		System: runtime.GOOS + "/" + runtime.GOARCH, FileSystem: fileSystem(dir), Go: runtime.Version(),
		Product: firstLines(string(version), 2),
	}
	if release, err := os.ReadFile("/proc/sys/kernel/osrelease"); err == nil {
		m.System += " " + strings.TrimSpace(string(release))
	}
	syncs.points() // sorts
	m.FsyncP50, m.FsyncP99, m.FsyncMax = millis(syncs.at(50_000)), millis(syncs.at(99_000)), millis(syncs.at(100_000))
	return m, nil
}

// firstLines returns the first n lines of a text as one line.
func firstLines(text string, n int) string {
	lines := strings.SplitN(text, "\n", n+1)
	return strings.Join(strings.Fields(strings.Join(lines[:min(n, len(lines))], " ")), " ")
}

// field returns the value of a name in a text file of "name: value" lines; "unknown" if it is missing.
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

// The fsync probe: the number of appends and the bytes of each; each append is synced.
const (
	fsyncProbes = 400
	fsyncBytes  = 4096
)

// measureFsync returns the times of fsyncProbes appends, each with its fsync.
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

func (m *machine) print(w io.Writer) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "machine\t%s, %d cores, %s\n", m.CPU, m.Cores, m.Memory)
	fmt.Fprintf(t, "system\t%s, %s, %s\n", m.System, m.FileSystem, m.Go)
	fmt.Fprintf(t, "product\t%s\n", m.Product)
	fmt.Fprintf(t, "fsync\tp50 %.3f, p99 %.3f, max %.3f ms (append 4 KiB, %d times)\n", m.FsyncP50, m.FsyncP99, m.FsyncMax, fsyncProbes)
	_ = t.Flush()
}
